"""Starts the parts of this folder in every Python process of a service, before the service's own code.

Python imports the first `sitecustomize` on its path (docs.python.org, module site), and services start with this folder
first in PYTHONPATH. What the service does is left as it is: this folder leaves sys.path again, the next sitecustomize
runs as it would have, and a part that fails says so in a file. $GILSCOPE_INSIDE is a folder with inside.json:
`{"pauses": {options}, ...}`. A process that forks without exec, as a pre-forking server does, starts its parts anew.
A Python that is told to ignore its environment or site (-E, -I, -S) starts none: nothing is known of it.
"""

import json
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

FOLDER = "GILSCOPE_INSIDE"
OPTIONS = "inside.json"
_HERE = os.path.dirname(os.path.abspath(__file__))


def start(folder: str) -> None:
    """Start each part that *folder* asks for, also again after a fork."""
    try:
        with open(os.path.join(folder, OPTIONS), encoding="utf-8") as file:
            parts = list(json.load(file).items())
    except (OSError, ValueError, AttributeError):  # the cell is over, or this process may not read there any more
        return
    for name, options in parts:
        try:
            _part(name).start(folder, options)
        except Exception:
            _complain(folder)


def _part(name: str) -> ModuleType:
    """Return the module, under a name that no package of the service has."""
    private = f"_gilscope_{name}"
    if private in sys.modules:
        return sys.modules[private]
    return _loaded(private, spec_from_file_location(private, os.path.join(_HERE, f"{name}.py")))


def _loaded(name: str, spec: ModuleSpec | None) -> ModuleType:
    """Return the module of *spec*. Raises what it raises, and ImportError, as an import would, if there is none."""
    if not spec or not spec.loader:
        raise ImportError(f"No module named {name!r}", name=name)
    sys.modules[name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _complain(folder: str) -> None:
    """Say what went wrong in `failed-PID`; the service goes on as if nothing had."""
    import traceback

    try:
        with open(os.path.join(folder, f"failed-{os.getpid()}"), "a", encoding="utf-8") as failed:
            failed.write(traceback.format_exc())
    except OSError:
        pass


sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
_folder = os.environ.get(FOLDER, "")
if os.path.isdir(_folder):
    start(_folder)
    os.register_at_fork(after_in_child=lambda: start(_folder))
_loaded("sitecustomize", PathFinder.find_spec("sitecustomize", sys.path))  # the next one; site expects ImportError
