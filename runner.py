#!/usr/bin/env python3
"""Run gilscope, which measures how the free-threaded build of CPython affects a threaded service.

This module checks the arguments and the process limits, finds the command, prints errors and exits.

Above the call of enter_environment(), only the standard library is imported, because the
interpreter may lack the libraries until then. Commands are in commands/. Exit statuses: 0, 1 for a
failed or unclear result, 2 for bad input, 3 for a missed threshold, 128 + N after signal N.
"""

import errno
import io
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"


# import names of packages without which no command works
LIBRARIES = ("jinja2", "matplotlib", "numpy", "polib", "rich", "scipy", "yaml")


def enter_environment() -> None:
    """Restart this program with the interpreter of .venv, which has the libraries, unless .venv is
    already in use.

    Exit with status 2 if standard output is closed, or if a library is missing after all.
    """
    _expect_output()
    if str(ROOT) not in sys.path[:1]:  # missing if PYTHONSAFEPATH is set
        sys.path.insert(0, str(ROOT))
    python = VENV / "bin" / "python"
    if Path(sys.prefix).resolve() != VENV.resolve() and python.exists():
        try:
            os.execv(python, [str(python), *sys.argv])
        except OSError as error:
            _exit_with_error(
                f"{python} cannot be run: {error.strerror}. Create {VENV} again with: make setup"
            )
    missing = [name for name in LIBRARIES if not find_spec(name)]
    if missing or sys.version_info < (3, 11):
        _exit_as_incomplete(f"{missing[0] if missing else 'Python 3.11'} is missing")


def _expect_output() -> None:
    """Replace closed standard streams by /dev/null, so that no file takes their place. Exit if
    stdout is closed.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115 - until the end
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        _exit_with_error("standard output is closed. Redirect it to a file or to /dev/null")


class _Output(io.FileIO):
    """The standard output of a command, which ends as usual if the reader goes away, as `head`
    does.
    """

    def write(self, data: Any) -> int:
        """Write *data*. Discard all output once the reader is gone."""
        try:
            return super().write(data)
        except BrokenPipeError:
            _discard_output(1)
            return memoryview(data).nbytes


def _outlive_reader() -> None:
    """Replace standard output, so that a command does not fail if its reader goes away."""
    old = sys.stdout
    assert isinstance(old, io.TextIOWrapper)
    is_by_line = old.line_buffering or old.write_through
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Output(1, "w", closefd=False)),
        old.encoding,
        old.errors,
        line_buffering=is_by_line,
    )


def _discard_output(*descriptors: int) -> None:
    """Discard all further output to *descriptors*, because its reader or the terminal is gone."""
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in descriptors:
        os.dup2(null, descriptor)


def _exit_with_error(reason: str) -> NoReturn:
    sys.stderr.write(f"error: {reason}\n")
    raise SystemExit(2)


def _exit_as_incomplete(reason: str) -> NoReturn:
    _exit_with_error(
        f"the installation is incomplete: {reason}. Install gilscope again; in a checkout: make "
        f"setup"
    )


if __name__ == "__main__":
    enter_environment()

import resource
import signal
import threading
from collections.abc import Sequence

try:
    import commands
    from commands.output import output
    from core.messages import Arg, BadInput, GilscopeError, Message, did_you_mean, message
    from core.program import PROGRAM
except ImportError as error:  # a library is installed incompletely
    _exit_as_incomplete(str(error))

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# the limit of processes (ulimit -u) up to which _expect_threads() starts some
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


class Stopped(KeyboardInterrupt):
    """An exception for a signal that ends the program."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def main(arguments: Sequence[str]) -> int:
    """Run one gilscope command, print its error if it fails, and return the exit status."""
    for number in SIGNALS:
        signal.signal(number, _stop)
    # English until the arguments are known to be valid
    output.use_language(())
    # before anything can print an argument
    output.hide_arguments(arguments)
    try:
        _expect_usable(arguments)
        output.use_language(arguments)
        status = _command(arguments)
        sys.stdout.flush()
        return status
    except GilscopeError as error:
        output.error(error.message)
        return error.exit_status
    except Stopped as stopped:
        if stopped.number == signal.SIGHUP:
            _discard_output(1, 2)
        return 128 + stopped.number
    except BrokenPipeError:
        _discard_output(1, 2)
        return 1
    except Exception as error:
        return _report_unexpected(error, arguments)


def _expect_usable(arguments: Sequence[str]) -> None:
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


def _report_unexpected(error: Exception, arguments: Sequence[str]) -> int:
    """Print whether the machine or a bug caused an unexpected error, unless a signal did. Return
    the exit status.
    """
    stopped = _find_signal(error)
    if stopped:  # for example, the terminal was closed, and the output with it
        _discard_output(1, 2)
        return 128 + stopped.number
    cause = _cause(error)
    output.error(cause or _describe_bug(error, arguments))
    try:
        sys.stdout.flush()
        lost = isinstance(error, OSError) and error.errno == errno.EIO
    except OSError:  # at exit, Python would flush again and fail with another status
        lost = True
    if lost:
        _discard_output(1, 2)
    return BadInput.exit_status if cause else 1


def _find_signal(error: BaseException | None) -> Stopped | None:
    """Return the exception that a signal raised and that led to *error*, or None if no signal led
    to it.
    """
    while error is not None and not isinstance(error, Stopped):
        error = error.__context__
    return error


def _cause(error: Exception) -> Message | None:
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


def _describe_bug(error: Exception, arguments: Sequence[str]) -> Message:
    """Return a message about a bug, with the command and the traceback, without secrets."""
    import traceback

    return message(
        "this is a bug in gilscope, not in your input. Please report the bug with these "
        "lines.\n{program} {arguments}\n"
        "{trace}",
        program=PROGRAM,
        arguments=repr(output.masked(arguments)),
        trace=output.redactor.text("".join(traceback.format_exception(error)).rstrip()),
    )


def _stop(number: int, frame: object) -> NoReturn:
    for other in SIGNALS:
        signal.signal(other, lambda *_: None)  # the short clean-up must not be interrupted
    raise Stopped(number)


def _command(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in commands.NAMES:
        return commands.find(arguments[0])(arguments[1:])
    if arguments and not arguments[0].startswith("-"):
        raise BadInput(
            "{word!r} is not a command. {near}Use one of: {names}. Without a command, gilscope "
            "starts a run with the given flags.",
            word=arguments[0],
            near=did_you_mean(arguments[0], commands.NAMES),
            names=commands.NAMES,
        )
    return commands.find("run")(arguments)


if __name__ == "__main__":
    _outlive_reader()
    raise SystemExit(main(sys.argv[1:]))
