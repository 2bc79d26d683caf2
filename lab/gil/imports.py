"""Import one module in a fresh process and see what it does: to the GIL, to warnings, or to the process."""

import json
import re
import signal
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

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
seen = [[one.category.__name__, str(one.message)] for one in caught]
gil = getattr(sys, "_is_gil_enabled", lambda: True)()
print("\\n{_MARK}" + json.dumps({{"gil": gil, "error": error, "warnings": seen}}), flush=True)
"""
# CPython's words in Python/import.c, import_run_extension: "The global interpreter lock (GIL) has been enabled ..."
_CULPRIT = re.compile(r"\(GIL\) has been enabled to load module '([^']+)'")


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What came of importing *module*.

    error: why it could not be imported, "" where it could
    gil_enabled: whether the GIL is on afterwards; culprits: the modules that CPython names for it
    warnings: the others that were emitted, each as 'Category: text'
    """

    module: str
    error: str = ""
    gil_enabled: bool = False
    culprits: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def imported(python: Path, module: str, folder: Path, timeout_s: float = IMPORT_TIMEOUT_S) -> Imported:
    """Import *module* with *python*, in a process of its own whose current folder is *folder*."""
    command = [str(python), "-I", "-c", _TRY, module]
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            cwd=folder,
            env=scrubbed_environment(),
        )
    except subprocess.TimeoutExpired:
        return Imported(module=module, error=f"no end after {timeout_s:g} s")
    said = done.stdout.rpartition("\n" + _MARK)[2]
    if _MARK not in done.stdout:
        return Imported(module=module, error=_death(done))
    told = json.loads(said.splitlines()[0])
    texts = [f"{category}: {' '.join(text.split())}" for category, text in told["warnings"]]
    return Imported(
        module=module,
        error=" ".join(told["error"].split()),
        gil_enabled=told["gil"],
        culprits=_unique(match[1] for text in texts if (match := _CULPRIT.search(text))),
        warnings=_unique(text for text in texts if not _CULPRIT.search(text)),
    )


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _death(done: "subprocess.CompletedProcess[str]") -> str:
    """How a process ended that had nothing to say."""
    lines = done.stderr.strip().splitlines()
    last = f": {lines[-1].strip()}" if lines else ""
    if done.returncode < 0:
        return f"the interpreter died of {signal.Signals(-done.returncode).name}{last}"
    return f"the interpreter exited with status {done.returncode}{last}"
