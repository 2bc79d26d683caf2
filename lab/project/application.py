"""Find a project's application, and import it with the interpreter that will serve it to know if it is WSGI or ASGI."""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from core.errors import BadInput
from core.messages import Message, message, verbatim
from lab.output import last_text
from lab.processes import describe_exit, run, scrubbed_environment

LOOK_TIMEOUT_S = 60.0
TAIL_BYTES = 1500
FILES = ("app.py", "main.py", "wsgi.py", "asgi.py", "*/wsgi.py", "*/asgi.py", "*/app.py", "*/main.py")
_DEFINITION = re.compile(r"^(?:(?:async )?def )?(app|application|create_app|make_app)(?: *=[^=]| *: |\()", re.MULTILINE)
_MARK = "gilscope-application:"
# A WSGI application takes (environ, start_response), see PEP 3333; an ASGI application takes (scope, receive, send).
# A function without required arguments is a factory that returns an application.
_LOOK = f"""
import importlib, inspect, json, sys

def required(call):
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return -1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len([one for one in parameters if one.kind in positional and one.default is one.empty])

def interface(value):
    call = value if inspect.isroutine(value) else getattr(value, "__call__", None)
    if inspect.isclass(value) or call is None:
        return ""
    if inspect.iscoroutinefunction(call):
        return "asgi"
    return {{2: "wsgi", 3: "asgi"}}.get(required(value), "")

def look(module, name):
    value = importlib.import_module(module)
    for part in name.removesuffix("()").split("."):
        value = getattr(value, part)
    factory = name.endswith("()") or (inspect.isfunction(value) and not interface(value) and not required(value))
    value = value() if factory else value
    kind = type(value)
    return {{"interface": interface(value), "factory": factory, "kind": kind.__module__ + "." + kind.__qualname__}}

sys.path.insert(0, "")
try:
    seen = look(*sys.argv[1].split(":"))
except BaseException as error:
    seen = {{"error": type(error).__name__ + ": " + str(error)}}
print("\\n{_MARK}" + json.dumps(seen), flush=True)
"""


@dataclass(frozen=True, kw_only=True)
class Application:
    """A description of a WSGI or ASGI application.

    interface: wsgi, asgi, or "" if it is neither; factory: whether the name is a function that returns the application
    kind: its class, such as flask.app.Flask; error: why it could not be imported, "" if it could
    """

    interface: Literal["wsgi", "asgi", ""] = ""
    factory: bool = False
    kind: str = ""
    error: str = ""


def find_application(folder: Path) -> str:
    """Return MODULE:NAME of the first application in the usual files of a project; "" if there is none.

    The function only reads the files. Whether the name is an application, inspect_application() finds out.
    """
    for path in (path for pattern in FILES for path in sorted(folder.glob(pattern))):
        parts = path.relative_to(folder).with_suffix("").parts
        if path.is_file() and all(map(str.isidentifier, parts)):
            found = _DEFINITION.search(path.read_text(encoding="utf-8", errors="replace"))
            if found:
                return f"{'.'.join(parts)}:{found[1]}"
    return ""


def inspect_application(name: str, python: Path, folder: Path, variables: Mapping[str, str]) -> Application:
    """Import MODULE:NAME with *python* in *folder*, and return a description of the application. Raises BadInput.

    variables: additional environment variables of the process
    """
    environment = scrubbed_environment() | {"PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"} | dict(variables)
    try:
        done = run([python, "-s", "-c", _LOOK, name], LOOK_TIMEOUT_S, environment, folder=folder)
    except subprocess.TimeoutExpired as late:
        raise _unusable(name, message("the import did not end within {limit_s:g} s", limit_s=late.timeout)) from None
    seen = _report(done.stdout)
    if seen is None:
        tail = last_text((done.stderr or done.stdout).encode(), TAIL_BYTES)
        how = describe_exit(done.returncode)
        raise _unusable(
            name, message("the importing process {ending}; the end of its output: {output}", ending=how, output=tail)
        )
    if seen.error:
        raise _unusable(name, verbatim(seen.error[:TAIL_BYTES]))
    return seen


def _report(output: str) -> Application | None:
    """Return what the process that imported the application reported in *output* among other text; None if missing."""
    try:
        return msgspec.json.decode(output.rpartition("\n" + _MARK)[2].splitlines()[0], type=Application)
    except (msgspec.DecodeError, IndexError):
        return None


def _unusable(name: str, reason: Message) -> BadInput:
    return BadInput(
        "{app} cannot be imported: {reason}. Give the application as MODULE:NAME, as Python imports it in the "
        "project's folder. Use --directory to choose another folder.",
        app=name,
        reason=reason,
    )
