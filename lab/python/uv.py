"""Find and run uv, which installs interpreters and packages, and report in one line why a uv
command failed.

lab/python, lab/environments, lab/project and lab/native_builds.py use it. A failure is a Message,
and callers decide by its code: UNSATISFIED, NETWORK, MISSING or "". run() and reason() find the
code from uv's exit status and output.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from core.messages import NOTHING, Message, message, verbatim
from lab import processes
from lab.python.trust import may_execute

ONE_LINE = "10000"  # columns of the terminal, at which uv would wrap the sentences of errors
# message code for uv's exit status 1: no version fits; status 2 means any other failure
UNSATISFIED = "unsatisfied"
NETWORK = "network"  # message code for a package index that cannot be reached
MISSING = "missing"  # message code for uv that was not found or must not be executed
# how the first error begins if a package could not be built
_BUILD_FAILED = ("Failed to build", "The build backend returned an error")
# parts of the output, in lower case, if a package index cannot be reached
_NETWORK_SYMPTOMS = (
    "dns error",
    "connection refused",
    "unreachable",
    "timed out",
    "error sending request",
)


def find() -> Path | None:
    """Return the first uv that may be executed, on PATH or in the orchestrator's environment; None
    if missing.
    """
    return next((path for path in _candidates() if not may_execute(path)), None)


def why_missing() -> Message:
    """Return why find() found no uv."""
    for refusal in filter(None, map(may_execute, _candidates())):
        return message("uv is not executed because {reason}", reason=refusal, code=MISSING)
    return message("uv was not found", code=MISSING)


def run(
    arguments: Sequence[str | Path],
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> tuple[str, Message]:
    """Run uv with *arguments*. Return its output and NOTHING, or "" and the reason why it failed.

    environment: the default is scrubbed_environment()
    options: as for processes.run()
    """
    program = find()
    if program is None:
        return "", why_missing()
    environment = environment or processes.scrubbed_environment()
    environment = {**environment, "NO_COLOR": "1", "COLUMNS": ONE_LINE}
    try:
        done = processes.run([program, *arguments], timeout_s, environment, **options)
    except subprocess.TimeoutExpired as late:
        return "", message("the command did not end within {limit_s:g} s", limit_s=late.timeout)
    except OSError as error:
        return "", message(
            "{program} could not be run ({error})",
            program=str(error.filename),
            error=error.strerror,
        )
    if not done.returncode:
        return done.stdout, NOTHING
    why = reason(done.stderr.strip() or done.stdout, done.returncode)
    return "", replace(why, code=why.code or (UNSATISFIED if done.returncode == 1 else ""))


def watcher(note: Callable[..., None], doing: Message, limit_s: float) -> Callable[[str], None]:
    """Return a function for run(watch=...) that prints what a command does, and for how long it has
    done it.

    note: prints a template, given with its arguments as to message()
    limit_s: only shown; run() has the timeout
    """
    begin = monotonic()

    def watch(newest_line: str) -> None:
        note(
            "{doing}, {elapsed_s:.0f} s of at most {limit_s:.0f} s: {line}",
            doing=doing,
            elapsed_s=monotonic() - begin,
            limit_s=limit_s,
            line=newest_line.removeprefix("DEBUG ") or "...",
        )

    return watch


def remedy(failure: Message, otherwise: Message) -> Message:
    """Return what to do about a failed command: about the network or a missing uv, or else
    *otherwise*.
    """
    if failure.code == MISSING:
        return message(
            "Install uv where only you and root can write, for example with: pip install uv"
        )
    if failure.code == NETWORK:
        return message("Check the network and the package index, then run again.")
    return otherwise


def reason(output: str, status: int) -> Message:
    """Return in one line why uv failed: no network, the cause that uv names, or the package that
    failed to build.

    output: of uv, in English and without line breaks inside sentences, as run() makes uv write it
    """
    text = f"\n{output.strip()}".partition("\nhint:")[0]
    errors = re.findall(r"^[ \t]*error: (.+)", text, re.MULTILINE)
    causes = re.findall(r"^[ \t]*cause: (.+)", text, re.MULTILINE)
    last_line = text.rstrip().rpartition("\n")[2]
    has_backend_error = _BUILD_FAILED[1] in output  # whose output may contain any symptom
    for symptom in () if has_backend_error else _NETWORK_SYMPTOMS:
        if symptom in output.lower():
            return message("no network: {symptom}", symptom=symptom, code=NETWORK)
    line = next(iter(causes or errors), last_line)
    if errors and errors[0].startswith(_BUILD_FAILED):
        line = f"{errors[0]}: {last_line}"
    return verbatim(" ".join(line.split()).rstrip(".")) or message(
        "the command exited with status {status} and wrote no output", status=status
    )


def _candidates() -> list[Path]:
    folders = [*os.environ.get("PATH", "").split(os.pathsep), str(Path(sys.executable).parent)]
    paths = (shutil.which("uv", path=folder) for folder in folders if os.path.isabs(folder))
    return [*map(Path, filter(None, paths))]
