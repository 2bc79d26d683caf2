"""Find a project's application, and import it with the interpreter that will serve it to know if it
is WSGI or ASGI.

commands/init.py asks find_application(), which only reads files. commands/project.py asks
inspect_application(), which runs the project's code in a process of its own.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from core.messages import BadInput, Message, message, verbatim
from lab.process_output import TAIL_BYTES, last_text
from lab.processes import describe_exit, run, scrubbed_environment

LOOK_TIMEOUT_S = 60.0  # of the import
# usual files of applications, the first match first; commands/init.py shows them in an error
FILES = (
    "app.py",
    "main.py",
    "wsgi.py",
    "asgi.py",
    "*/wsgi.py",
    "*/asgi.py",
    "*/app.py",
    "*/main.py",
)
MODULES = ("*.py", "*/*.py")  # all others, where only the call of a framework is looked for
# find_application() takes group 1 or 2 of both patterns, so this one has an empty second group
_DEFINITION = re.compile(
    r"^(?:(?:async )?def )?(app|application|create_app|make_app)()(?: *=[^=]| *: |\()",
    re.MULTILINE,
)
_FRAMEWORK = re.compile(
    r"^(app|application)(?: *:[^=\n]*)? *= *(?:[\w.]+\.)?"
    r"(?:Flask|Quart|FastAPI|Starlette|Litestar|Sanic|Bottle|App|get_wsgi_application"
    r"|get_asgi_application)\(|^(?:async )?def (create_app|make_app)\(",
    re.MULTILINE,
)
_MARK = "gilscope-application:"  # before the JSON, because the project may print other text
# A WSGI application takes (environ, start_response), see PEP 3333; an ASGI application takes
# (scope, receive, send). A function without required arguments is a factory that returns an
# application.
# This program runs under the project's Python, so it uses only the standard library. Application
# has the fields of the JSON that it prints.
_LOOK = f"""
import importlib, inspect, json, os, sys, traceback

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

class NotThere(Exception):
    pass

def look(module, name):
    try:
        value = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if f"{{module}}.".startswith(f"{{error.name}}."):
            raise NotThere(error.name) from None
        raise
    for part in name.removesuffix("()").split("."):
        if not hasattr(value, part):
            raise NotThere(f"{{module}}:{{part}}")
        value = getattr(value, part)
    is_call = inspect.isfunction(value) and not interface(value) and not required(value)
    factory = name.endswith("()") or is_call
    value = value() if factory else value
    kind = type(value)
    name = kind.__module__ + "." + kind.__qualname__
    return {{"interface": interface(value), "factory": factory, "kind": name}}

def failure(error):
    syntax = isinstance(error, SyntaxError)
    frames = traceback.extract_tb(error.__traceback__)
    places = [("", 0), *((frame.filename, frame.lineno) for frame in frames)]
    places = [(error.filename, error.lineno)] if syntax else places
    files = [place for place in places if os.path.isfile(place[0] or "")]
    file, line = ([place for place in files if inside(place[0])] or files or places)[-1]
    text = error.msg if syntax else str(error)
    is_missing = isinstance(error, ModuleNotFoundError) and error.name
    missing = error.name.partition(".")[0] if is_missing else ""
    return {{
        "error": type(error).__name__ + ": " + text, "syntax": syntax,
        "file": file if files else "", "line": line or 0,
        "missing": "" if os.path.exists(missing) or os.path.exists(missing + ".py") else missing,
    }}

def inside(file):
    path = os.path.relpath(file)
    return not path.startswith("..") and "site-packages" not in path

sys.path.insert(0, "")
try:
    seen = look(*sys.argv[1].split(":"))
except NotThere as error:
    seen = {{"absent": str(error)}}
except BaseException as error:
    seen = failure(error)
print("\\n{_MARK}" + json.dumps(seen), flush=True)
"""


@dataclass(frozen=True, kw_only=True)
class Application:
    """A description of a WSGI or ASGI application.

    interface: wsgi, asgi, or "" if it is neither; factory: whether the name is a function that
        returns the application
    kind: its class, such as flask.app.Flask
    absent: the MODULE or MODULE:NAME that does not exist; error: why it could not be imported; ""
        if it could
    file, line: where the error is; syntax: whether it is a syntax error; missing: the module that
        is not installed
    """

    interface: Literal["wsgi", "asgi", ""] = ""
    factory: bool = False
    kind: str = ""
    absent: str = ""
    error: str = ""
    file: str = ""
    line: int = 0
    syntax: bool = False
    missing: str = ""


def find_application(folder: Path) -> str:
    """Return MODULE:NAME of the first application in the usual files of a project, or else in any
    module but tests, in the project's folder or a package; "" if there is none.

    The function only reads the files. Whether the name is an application, inspect_application()
    finds out.
    """
    # in the usual files a name is enough; elsewhere it must be made by a framework
    for patterns, definition in ((FILES, _DEFINITION), (MODULES, _FRAMEWORK)):
        for path in (path for pattern in patterns for path in sorted(folder.glob(pattern))):
            parts = path.relative_to(folder).with_suffix("").parts
            is_test = any(part.startswith(("test", "conftest")) for part in parts)
            if path.is_file() and all(map(str.isidentifier, parts)) and not is_test:
                found = definition.search(path.read_text("utf-8", "replace"))
                if found:
                    module = ".".join(parts).removesuffix(".__init__")
                    return f"{module}:{found[1] or found[2]}"
    return ""


def inspect_application(
    name: str, python: Path, folder: Path, variables: Mapping[str, str]
) -> Application:
    """Import MODULE:NAME with *python* in *folder*, and return a description of the application.
    Raises BadInput.

    name: with () after it, a factory, which is called without arguments
    folder: the working directory, in which Python looks for modules
    variables: additional environment variables of the process
    """
    environment = {
        **scrubbed_environment(),
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **variables,
    }
    try:
        done = run([python, "-s", "-c", _LOOK, name], LOOK_TIMEOUT_S, environment, cwd=folder)
    except subprocess.TimeoutExpired:
        late = message("the import did not end within {limit_s:g} s", limit_s=LOOK_TIMEOUT_S)
        raise _unusable(name, late) from None
    _, mark, report = done.stdout.rpartition("\n" + _MARK)
    if not mark:
        reason = message(
            "the importing process {ending}; the end of its output: {output}",
            ending=describe_exit(done.returncode),
            output=last_text((done.stderr or done.stdout).encode()),
        )
        raise _unusable(name, reason)
    seen = msgspec.json.decode(report.splitlines()[0], type=Application)
    if seen.absent:
        module, _, part = seen.absent.partition(":")
        absent = message("there is no module {module} in {folder}", module=module, folder=folder)
        if part:
            absent = message("{module} has no {part}", module=module, part=part)
        raise _unusable(name, absent)
    if seen.error:
        raise _import_error(name, seen, folder)
    return seen


def _import_error(name: str, seen: Application, folder: Path) -> BadInput:
    """Return the error for an application that exists, but raises an error when it is imported."""
    remedy = message(
        "Correct this error. If the service needs an environment variable, set it with --env. "
        "If it needs a database, start one with --with."
    )
    if seen.syntax:
        remedy = message("Correct this file.")
    elif seen.missing:
        remedy = message(
            "Add the package of {module} to the project's requirements.txt or pyproject.toml.",
            module=seen.missing,
        )
    reason = verbatim(" ".join(seen.error[:TAIL_BYTES].split()).rstrip(". "))
    if seen.file:
        path = os.path.relpath(seen.file, folder)
        file = seen.file if path.startswith("..") else path
        reason = message("{file}, line {line}: {error}", file=file, line=seen.line, error=reason)
    return BadInput(
        "{app} cannot be imported: {reason}. {remedy}", app=name, reason=reason, remedy=remedy
    )


def _unusable(name: str, reason: Message) -> BadInput:
    return BadInput(
        "{app} cannot be imported: {reason}. Give the application as MODULE:NAME, as Python "
        "imports it in the project's folder. Use --directory to choose another folder.",
        app=name,
        reason=reason,
    )
