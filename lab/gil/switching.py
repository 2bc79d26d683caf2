"""Import modules, each in a new process, and report whether the import fails, warns, or switches
the GIL on.

lab/gil/package_audit.py imports modules on trial: top_modules(), then try_import() for each. The
interpreter must be a free-threaded build, because the GIL of any other is always reported as on.
CPython's warnings about unsafe threading, and about a GIL that was switched on, are also found in a
service's output: notices() is for lab/run/children.py and lab/user_service/service_child.py,
switching_modules() for lab/run/cell_results.py. The patterns are texts of CPython, below.
"""

import json
import re
import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from core.messages import Json, Message, message, verbatim
from lab.processes import describe_exit, run, scrubbed_environment

# kinds of Problem; they are in the JSON of audit, and commands/audit.py has a text for each
GIL, IMPORT_FAILS, WARNS = "gil", "import fails", "warns"
IMPORT_TIMEOUT_S = 60.0
# begins the line with the result, which distinguishes it from what the module prints
_MARK = "gilscope-import:"
# The program of the new process, which runs under the audited interpreter: standard library only.
# It takes the module's name. It prints gil (whether it is on now), error ("" if none) and warnings.
_TRY = f"""
import importlib, json, sys, warnings
error = ""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        importlib.import_module(sys.argv[1])
    except BaseException as raised:
        error = type(raised).__name__ + ": " + str(raised)
# these warnings say nothing about threads
plans = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, SyntaxWarning)
told = [warning for warning in caught if not issubclass(warning.category, plans)]
warned = [warning.category.__name__ + ": " + str(warning.message) for warning in told]
gil = getattr(sys, "_is_gil_enabled", lambda: True)()
print("\\n{_MARK}" + json.dumps({{"gil": gil, "error": error, "warnings": warned}}), flush=True)
"""


class Problem(NamedTuple):
    """A problem that the audit found in a package, such as a failed import.

    kind: GIL, IMPORT_FAILS or WARNS, or a kind of lab.gil.package_audit
    module: the imported module in which the problem appeared, or ""
    culprit: for kind GIL, the module that switched the GIL on; it may belong to another package
    """

    kind: str
    detail: Message
    module: str = ""
    culprit: str = ""

    def to_json(self) -> Json:
        """Return this problem as a JSON object for the option `--json`.

        The object has the description twice: as plain text, and as a template with values, which
        can be translated.
        """
        return {**self._asdict(), "detail": str(self.detail), "message": self.detail.to_json()}


def try_import(
    python: Path, module: str, folder: Path, timeout_s: float = IMPORT_TIMEOUT_S
) -> list[Problem]:
    """Import *module* in a new process of the interpreter *python*, and return the problems of the
    import.

    A GIL that was switched on is reported even if the import failed afterwards.
    folder: the working directory of the process
    """
    try:
        done = run(
            [python, "-I", "-c", _TRY, module], timeout_s, scrubbed_environment(), cwd=folder
        )
    except subprocess.TimeoutExpired:
        late = message("the import did not end within {limit_s:g} s", limit_s=timeout_s)
        return [_failure(module, late)]
    if _MARK not in done.stdout:
        return [_failure(module, _describe_end(done))]
    report = json.loads(done.stdout.rpartition("\n" + _MARK)[2].splitlines()[0])
    warnings = dict.fromkeys(" ".join(text.split()) for text in report["warnings"])
    problems = []
    if report["gil"]:
        culprits = switching_modules("\n".join(warnings))
        problems.append(
            Problem(GIL, _describe_switch(module, culprits), module, ", ".join(culprits))
        )
    if report["error"]:
        problems.append(_failure(module, verbatim(" ".join(report["error"].split()))))
    others = [text for text in warnings if not switching_modules(text)]
    return [*problems, *(Problem(WARNS, verbatim(text), module) for text in others)]


def _failure(module: str, error: Message) -> Problem:
    detail = message("importing {module} fails: {error}", module=module, error=error)
    return Problem(IMPORT_FAILS, detail, module)


def _describe_end(done: "subprocess.CompletedProcess[str]") -> Message:
    """Describe how a process ended, if it did not report the outcome of its import."""
    end = message("the interpreter {ending}", ending=describe_exit(done.returncode))
    last_line = done.stderr.strip().rpartition("\n")[2].strip()
    return message("{ending}: {output}", ending=end, output=last_line) if last_line else end


def _describe_switch(module: str, culprits: Sequence[str]) -> Message:
    """Return a message that importing a module switches the GIL on. It names other modules if
    CPython blames them.
    """
    others = [name for name in culprits if name != module]
    if not others:
        return message("importing {module} switches the GIL on", module=module)
    return message(
        "importing {module} switches the GIL on because {module} loads {others}",
        module=module,
        others=others,
    )


def top_modules(package: metadata.Distribution) -> list[str]:
    """Return the modules of an installed distribution to import: its top-level packages with code,
    and single modules.

    A folder without __init__.py is a namespace without code, so the packages in it are imported
    instead. Modules whose name begins with _ are imported only if there is no public module.
    """
    names = {_module_of(file.parts) for file in package.files or ()}
    outermost: list[str] = []
    for name in sorted(names - {""}):  # a package comes right before what is in it
        if not (outermost and name.startswith(f"{outermost[-1]}.")):
            outermost.append(name)
    return [name for name in outermost if not name.startswith("_")] or outermost


def _module_of(parts: tuple[str, ...]) -> str:
    """Return the name of the module that a package's file defines; "" for data, scripts, tests and
    type stubs.
    """
    *folders, file = parts
    stem, _, suffix = file.partition(".")
    if parts[0] in ("..", "test", "tests") or parts[0].endswith((".dist-info", ".data")):
        return ""
    if suffix != "py" and not suffix.endswith("so"):
        return ""
    names = folders if stem == "__init__" else [*folders, stem]
    return ".".join(names) if names and all(name.isidentifier() for name in names) else ""


# the most lines that notices() returns
MOST_NOTICES = 20
# how many characters of a line notices() keeps
LONGEST_NOTICE = 300
_SWITCHED_ON = re.compile(
    r"GIL\) has been enabled to load module '([^']+)'"
)  # Python/import.c, import_run_extension
# texts from Objects/dictobject.c, setobject.c, listobject.c and Modules/_collectionsmodule.c
_THREADS = re.compile(
    r"changed size during iteration|keys changed during iteration|mutated during iteration"
    r"|modified during sort|generator already executing|reentrant call inside"
    r"|objects created in a thread can only be used in that same thread"
    r"|Warning:.*\b(not thread[- ]safe|thread[- ]unsafe|thread[- ]safety)\b",
    re.IGNORECASE,
)


def switching_modules(text: str) -> list[str]:
    """Return the modules that switched the GIL on according to CPython's warnings in *text*,
    without duplicates.
    """
    return list(dict.fromkeys(_SWITCHED_ON.findall(text)))


def notices(text: str) -> list[str]:
    """Return the lines of *text* that report unsafe threading or a GIL that was switched on,
    without duplicates.
    """
    lines = dict.fromkeys(line.strip()[:LONGEST_NOTICE] for line in text.splitlines())
    found = [line for line in lines if _SWITCHED_ON.search(line) or _THREADS.search(line)]
    return found[:MOST_NOTICES]
