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
    missing = [name for name in ("yaml", "rich", "jinja2", "numpy", "scipy", "matplotlib") if not find_spec(name)]
    if missing or sys.version_info < (3, 11):
        sys.stderr.write(f"error: there is no {VENV} to run in. Make it with: make setup\n")
        raise SystemExit(2)


if __name__ == "__main__":
    enter_environment()

import signal
from collections.abc import Sequence
from typing import NoReturn

import commands
from commands.output import Output, output_for, without_secrets
from commands.run import main as run
from core.errors import BadInput, GilscopeError
from core.messages import Message, listed, message

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal asked us to end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def main(arguments: Sequence[str]) -> int:
    """Run one command; its exit status. All errors are printed here."""
    output = Output()
    for number in SIGNALS:
        signal.signal(number, _stop)
    try:
        output = output_for(arguments)
        return _command(arguments)
    except GilscopeError as error:
        output.error(error.message)
        return error.exit_status
    except Stopped as stopped:
        return 128 + stopped.number
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:  # asked of any path, before it is opened
            path, reason = str(error.filename), str(error.strerror)
            output.error(message("{path} cannot be read: {reason}; name another file.", path=path, reason=reason))
            return BadInput.exit_status
        output.error(_bug(error, arguments))
        return 1


def _bug(error: Exception, arguments: Sequence[str]) -> Message:
    """A line on an unexpected error, and the file that keeps its traceback; the traceback itself if there is none."""
    import tempfile
    import traceback

    cause = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    trace = f"runner.py {without_secrets(arguments)!r}\n{''.join(traceback.format_exception(error))}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="gilscope-bug-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(trace)
    except OSError:
        return message(
            "this is a bug in gilscope, not in your input: {cause}.\n{trace}", cause=cause, trace=trace.rstrip()
        )
    return message(
        "this is a bug in gilscope, not in your input: {cause}. The traceback is in {file}; "
        "please report it with the command.",
        cause=cause,
        file=file.name,
    )


def _stop(number: int, frame: object) -> NoReturn:
    for other in SIGNALS:
        signal.signal(other, lambda *_: None)  # cleaning up is short, and is not to be cut off
    raise Stopped(number)


def _command(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in commands.NAMES:
        return commands.find(arguments[0])(arguments[1:])
    if arguments and not arguments[0].startswith("-"):
        raise BadInput(
            "{word!r} is not a command; accepted are {names}, or only flags for a run.",
            word=arguments[0],
            names=listed(commands.NAMES),
        )
    return run(arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
