"""What runs on a host."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

from tests.test_import_table import STANDARD_LIBRARY, imports, sources


def host_modules() -> set[str]:
    """The programs that start on a host, and the modules of the functions that are called there."""
    found = {"lab.hosts.boot", "lab.hosts.agent", "lab.hosts.worker", "lab.user_service.service_child"}
    for path, source in sources("lab").items():
        for asked in re.findall(r"(?:call|begin)\(([^()]+)", source):
            names = vars(import_module(path[:-3].replace("/", ".")))
            for name, _, inner in re.findall(r"([a-z]\w*)(\.(\w+))?", asked):
                called = getattr(names.get(name), inner, names.get(name))
                found |= {called.__module__} if isinstance(called, FunctionType) else set()
    return found


def test_the_agent_imports_the_standard_library_and_3_11_can_read_it() -> None:
    """Of all that it loads: run without any other package."""
    modules = host_modules()
    assert {"lab.machine.link", "lab.run.instrumentation"} <= modules
    code = f"import sys; sys.path.insert(0, '.'); import {', '.join(modules)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    own = [name for name in done.stdout.split() if name.partition(".")[0] in ("lab", "core", "systems", "config")]
    assert modules <= {*own}
    for name in own:
        path = Path(*name.split(".")).with_suffix(".py")
        if path.exists():
            ast.parse(path.read_text(), feature_version=(3, 11))
            imported = {module for _, module in imports(path.read_text(), name.partition(".")[0])}
            assert imported <= STANDARD_LIBRARY | {"lab", "core", "systems", "services", "clients", "experiments"}, path
