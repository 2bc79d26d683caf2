#!/usr/bin/env python3
"""gilscope: what does the free-threaded build of CPython do to a threaded socket service, and is it worth it?

The command line and nothing else.
"""

import errno
import os
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"


def enter_environment() -> None:
    """Go on in .venv, where the libraries are, if this interpreter is not the one in it."""
    if Path(sys.prefix).resolve() == VENV.resolve():
        return
    python = VENV / "bin" / "python"
    if python.exists():
        os.execv(python, [str(python), *sys.argv])
    missing = [name for name in ("yaml", "rich", "numpy", "scipy", "matplotlib") if not find_spec(name)]
    if missing or sys.version_info < (3, 11):
        sys.stderr.write(f"error: there is no {VENV} to run in. Make it with: make setup\n")
        raise SystemExit(2)


if __name__ == "__main__":
    enter_environment()

import signal
from collections.abc import Sequence
from typing import NoReturn

import commands
from commands.run import main as run
from commands.saying import note
from core.errors import BadInput, GilscopeError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal asked us to end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def main(arguments: Sequence[str]) -> int:
    """Run one command; its exit status. All errors are printed here."""
    for number in SIGNALS:
        signal.signal(number, _stop)
    try:
        return _command(arguments)
    except GilscopeError as error:
        note(f"error: {error}")
        return error.exit_status
    except Stopped as stopped:
        return 128 + stopped.number
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:  # asked of any path, before it is opened
            note(f"error: {error.filename} cannot be read: {error.strerror}; name another file.")
            return BadInput.exit_status
        note(f"error: {_bug(error, arguments)}")
        return 1


def _bug(error: Exception, arguments: Sequence[str]) -> str:
    """A line on an error that nobody foresaw, whose traceback is kept for who mends it, or follows."""
    import tempfile
    import traceback

    what = (
        f"this is a bug of gilscope, not of your input: {type(error).__name__}: {' '.join(str(error).split())[:200]}."
    )
    trace = f"runner.py {arguments!r}\n{''.join(traceback.format_exception(error))}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="gilscope-bug-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(trace)
    except OSError:
        return f"{what}\n{trace.rstrip()}"
    return f"{what} The traceback is in {file.name}; please report it with the command."


def _stop(number: int, frame: object) -> NoReturn:
    for one in SIGNALS:
        signal.signal(one, lambda *_: None)  # cleaning up is short, and is not to be cut off
    raise Stopped(number)


def _command(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in commands.NAMES:
        return commands.find(arguments[0])(arguments[1:])
    if arguments and not arguments[0].startswith("-"):
        raise BadInput(
            f"{arguments[0]!r} is not a command; accepted are {', '.join(commands.NAMES)}, or only flags for a run."
        )
    return run(arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
