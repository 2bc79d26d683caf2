"""Import one module in a fresh process and see what it does: to the GIL, to warnings, or to the process."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.messages import NOTHING, Message, message, verbatim
from lab.gil.notice import switching_modules
from lab.processes import ending, run
from lab.python.interpreters import scrubbed_environment

IMPORT_TIMEOUT_S = 60.0
_MARK = "gilscope-import:"
_TRY = f"""
import importlib, json, sys, warnings
error = ""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        importlib.import_module(sys.argv[1])
    except BaseException as raised:
        error = type(raised).__name__ + ": " + str(raised)
warned = [[warning.category.__name__, str(warning.message)] for warning in caught]
gil = getattr(sys, "_is_gil_enabled", lambda: True)()
print("\\n{_MARK}" + json.dumps({{"gil": gil, "error": error, "warnings": warned}}), flush=True)
"""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What came of importing *module*.

    error: why it could not be imported, NOTHING if it could
    gil_enabled: whether the GIL is on afterwards; culprits: the modules that CPython names for it
    warnings: the others that were emitted, each as 'Category: text'
    """

    module: str
    error: Message = NOTHING
    gil_enabled: bool = False
    culprits: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def imported(python: Path, module: str, folder: Path, timeout_s: float = IMPORT_TIMEOUT_S) -> Imported:
    """Import *module* with *python*, in a process of its own whose current folder is *folder*."""
    command = [str(python), "-I", "-c", _TRY, module]
    try:
        done = run(command, timeout_s, scrubbed_environment(), folder=folder)
    except subprocess.TimeoutExpired:
        return Imported(module=module, error=message("it did not end within {limit_s:g} s", limit_s=timeout_s))
    if _MARK not in done.stdout:
        return Imported(module=module, error=_death(done))
    return _outcome(module, json.loads(done.stdout.rpartition("\n" + _MARK)[2].splitlines()[0]))


def _outcome(module: str, report: Mapping[str, Any]) -> Imported:
    warnings = [f"{category}: {' '.join(text.split())}" for category, text in report["warnings"]]
    return Imported(
        module=module,
        error=verbatim(" ".join(report["error"].split())),
        gil_enabled=report["gil"],
        culprits=tuple(switching_modules("\n".join(warnings))),
        warnings=tuple(dict.fromkeys(text for text in warnings if not switching_modules(text))),
    )


def _death(done: "subprocess.CompletedProcess[str]") -> Message:
    """How a process ended that said nothing."""
    last_lines = done.stderr.strip().splitlines()[-1:]
    end = message("the interpreter {ending}", ending=ending(done.returncode))
    return message("{ending}: {output}", ending=end, output=last_lines[0].strip()) if last_lines else end
