"""Check that arguments are valid, and that the current folder and new threads can be used. Explain
system errors.

runner.py calls check() before each command, and cause() for an exception that no module translated
to a GilscopeError.
"""

import errno
import os
import resource
import threading
from collections.abc import Sequence

from core.messages import Arg, BadInput, Message, message

# the limit of processes (ulimit -u) up to which check() tries to start threads
FEW_PROCESSES = 256
_NO_ROOM = "failed to map segment"  # of the dynamic linker, whose text numpy repeats
THREADS = 8  # how many threads must start; an interpreter search uses 16
_NO_PROCESS = message(
    "No process or thread can be started: {error}. End some processes, or raise the limit "
    "(ulimit -u).",
    error=os.strerror(errno.EAGAIN),
)
# what the user can do about an OSError, by errno
_REMEDIES = {
    errno.ENOSPC: message("free some disk space, or use another folder"),
    errno.EDQUOT: message("free some disk space, or use another folder"),
    errno.EROFS: message("use another folder"),
    errno.EACCES: message("change the permissions, or use another folder"),
    errno.EPERM: message("change the permissions, or use another folder"),
    errno.ENAMETOOLONG: message("use a shorter name"),
    errno.EMFILE: message("raise the limit of open files (ulimit -n)"),
    errno.ENFILE: message("end some processes"),
    errno.EINTR: message("try again"),
    errno.EIO: message("check the disk or the terminal that the output goes to"),
}


def check(arguments: Sequence[str]) -> None:
    """Raise BadInput if an argument, the current folder or a process limit would make every command
    fail.
    """
    for word in arguments:
        if word.encode(errors="ignore").decode() != word:
            raise BadInput(
                "The argument {word} is not valid UTF-8. Use UTF-8 in all arguments.",
                word=ascii(word),
            )
    try:
        os.getcwd()
    except OSError as error:
        raise BadInput(
            "The current folder cannot be used: {reason}. Change to another folder with cd.",
            reason=error.strerror,
        ) from error
    _expect_threads()


def cause(error: Exception) -> Message | None:
    """Return a message if the machine or the installation caused *error*, else None."""
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return _NO_PROCESS
    if isinstance(error, MemoryError) or (
        isinstance(error, ImportError) and _NO_ROOM in str(error)
    ):
        return message(
            "There is not enough memory. Stop other programs, raise the limit (ulimit -v), or use "
            "a smaller plan."
        )
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":
        return message(
            "The name {name} is not valid UTF-8. Use a name in UTF-8.",
            name=ascii(error.object)[:200],
        )
    if isinstance(error, ImportError) and error.name:
        return message(
            "The installation is incomplete: {module} cannot be imported ({reason}). Install "
            "gilscope again; in a checkout: make setup",
            module=error.name,
            reason=error,
        )
    if isinstance(error, OSError) and error.errno in _REMEDIES:
        place: Arg = (
            str(error.filename)
            if error.filename is not None
            else message("A file that the operating system did not name")
        )
        return message(
            "{path} cannot be used: {reason}. What to do: {remedy}.",
            path=place,
            reason=error.strerror,
            remedy=_REMEDIES[error.errno],
        )
    return None


def _expect_threads() -> None:
    """Raise BadInput if the process limit allows no more threads. Libraries would fail later with
    unclear errors.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if limit == resource.RLIM_INFINITY or limit > FEW_PROCESSES:
        return
    ends = threading.Event()
    threads = [threading.Thread(target=ends.wait, daemon=True) for _ in range(THREADS)]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError as error:
        raise BadInput(_NO_PROCESS) from error
    finally:
        ends.set()
