"""What a command stands on: the current folder, its arguments, room, processes. What lacks there is no bug of ours."""

import errno
import os
import resource
import threading
from collections.abc import Sequence

from core.errors import BadInput
from core.messages import Arg, Message, message

FEW_PROCESSES = 256
THREADS = 8  # at least: an interpreter search has 16
_REMEDIES = {
    errno.ENOSPC: message("make room there, or name another place"),
    errno.EDQUOT: message("make room there, or name another place"),
    errno.EROFS: message("name another place"),
    errno.EACCES: message("give access to it, or name another place"),
    errno.EPERM: message("give access to it, or name another place"),
    errno.ENAMETOOLONG: message("name another file"),
    errno.EMFILE: message("raise the limit (ulimit -n)"),
    errno.ENFILE: message("end some processes"),
    errno.EINTR: message("try again"),
    errno.EIO: message("look at the disk, or the terminal"),
}


def check(arguments: Sequence[str]) -> None:
    """Raises BadInput where no command can work."""
    for word in arguments:
        if not _is_text(word):
            raise BadInput("The argument {word} is not UTF-8; give another name to what it names.", word=ascii(word))
    try:
        os.getcwd()
    except OSError as error:
        raise BadInput(
            "The current folder cannot be used: {reason}. Change to another one (cd).", reason=error.strerror
        ) from error
    _expect_processes()


def cause(error: Exception) -> Message | None:
    """Why the machine, or the set-up, could not do what was asked; None if it is not at fault."""
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return _no_process()
    if isinstance(error, MemoryError):
        return message("There is not enough memory (see ulimit -v). Stop what holds it, or make the plan smaller.")
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":
        return message("The name {name} is not UTF-8; give it another one.", name=ascii(error.object)[:200])
    if isinstance(error, ImportError) and error.name:
        return message(
            "The set-up is not whole: {module} cannot be imported ({reason}). Install gilscope anew; in a checkout: "
            "make setup",
            module=error.name,
            reason=str(error),
        )
    if isinstance(error, OSError) and error.errno in _REMEDIES:
        place: Arg = str(error.filename) if error.filename is not None else message("A file")
        return message(
            "{path} cannot be used: {reason}; {remedy}.",
            path=place,
            reason=error.strerror,
            remedy=_REMEDIES[error.errno],
        )
    return None


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_process() -> Message:
    return message(
        "No process or thread can be started: {error}. End some, or raise the limit (ulimit -u).",
        error=os.strerror(errno.EAGAIN),
    )


def _expect_processes() -> None:
    """Raises BadInput where a low limit leaves no room for a few threads: libraries would say so in their own ways."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if limit == resource.RLIM_INFINITY or limit > FEW_PROCESSES:
        return
    ends = threading.Event()
    threads = [threading.Thread(target=ends.wait, daemon=True) for _ in range(THREADS)]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError as error:
        raise BadInput(_no_process()) from error
    finally:
        ends.set()
