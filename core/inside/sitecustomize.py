"""Starts the parts of this folder in every Python process of a service, before the service's own code.

Python imports the first `sitecustomize` on its path (docs.python.org, module site), and services start with this folder
first in PYTHONPATH. What the service does is left as it is: this folder leaves sys.path again, the next sitecustomize
runs as it would have, and a part that fails says so in a file. $GILSCOPE_INSIDE is a folder with inside.json:
`{"pauses": {options}, ...}`. A process that forks without exec, as a pre-forking server does, starts its parts anew.
"""

import importlib.util
import json
import os
import sys
import traceback
from importlib.machinery import PathFinder
from typing import Any

FOLDER = "GILSCOPE_INSIDE"
OPTIONS = "inside.json"
_HERE = os.path.dirname(os.path.abspath(__file__))


def start(folder: str) -> None:
    """Start each part that *folder* asks for; what goes wrong is in `failed-PID` there."""
    try:
        with open(os.path.join(folder, OPTIONS), encoding="utf-8") as file:
            parts: dict[str, dict[str, Any]] = json.load(file)
        for name, options in parts.items():
            _part(name).start(folder, options)
    except Exception:
        with open(os.path.join(folder, f"failed-{os.getpid()}"), "a", encoding="utf-8") as failed:
            failed.write(traceback.format_exc())


def _part(name: str) -> Any:
    """The module, under a name that no package of the service has."""
    private = f"_gilscope_{name}"
    if private not in sys.modules:
        spec = importlib.util.spec_from_file_location(private, os.path.join(_HERE, f"{name}.py"))
        assert spec and spec.loader
        module = sys.modules[private] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[private]


def _run_next_sitecustomize() -> None:
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec and spec.loader:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
_folder = os.environ.get(FOLDER, "")
if os.path.isdir(_folder):
    start(_folder)
    os.register_at_fork(after_in_child=lambda: start(_folder))
_run_next_sitecustomize()
