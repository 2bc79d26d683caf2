"""Start gilscope's instrumentation in every Python process of a service, before the service's own
code.

Python imports the first `sitecustomize` on its path (docs.python.org, module site), and this folder
is first in the PYTHONPATH of services. The service is not affected: this folder is removed from
sys.path, the next sitecustomize runs as usual, and a part that fails writes its traceback to a
file. $GILSCOPE_INSIDE names a folder with inside.json: `{"pauses": {options}, ...}`. After a fork
without exec, as in a pre-forking server, the child starts its parts again. A Python that ignores
its environment or site (-E, -I, -S) starts no part.
"""

import json
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

# Both are as in core/inside/__init__.py, which the Python of a service cannot import.
FOLDER = "GILSCOPE_INSIDE"
OPTIONS = "inside.json"
_HERE = os.path.dirname(os.path.abspath(__file__))


def start(folder: str) -> None:
    """Start each instrumentation module listed in the file inside.json of *folder*. Called again
    after each fork.
    """
    try:
        with open(os.path.join(folder, OPTIONS), encoding="utf-8") as file:
            parts = list(json.load(file).items())
    except (
        OSError,
        ValueError,
        AttributeError,
    ):  # the cell has ended, or this process has lost the permission to read
        return
    for name, options in parts:
        try:
            _import_part(name).start(folder, options)
        except Exception:
            _write_failure(folder)


def _import_part(name: str) -> ModuleType:
    """Import the instrumentation module *name* under a name that cannot clash with the service's
    packages.
    """
    private = f"_gilscope_{name}"
    if private in sys.modules:
        return sys.modules[private]
    return _import(private, spec_from_file_location(private, os.path.join(_HERE, f"{name}.py")))


def _import(name: str, spec: ModuleSpec | None) -> ModuleType:
    """Import the module of *spec*. Raises ImportError if there is no spec, and every exception of
    the module.
    """
    if not spec or not spec.loader:
        raise ImportError(f"No module named {name!r}", name=name)
    sys.modules[name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _write_failure(folder: str) -> None:
    """Append the current exception's traceback to the file `failed-PID`. The service continues
    normally.
    """
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
_import(
    "sitecustomize", PathFinder.find_spec("sitecustomize", sys.path)
)  # the next one; site expects ImportError
