"""What runs on a host, and the reading of its clock."""

import ast
import re
import subprocess
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

from core.layout import Host
from lab.folders import Sandbox
from lab.hosts import connection
from lab.hosts.connection import HostConnection
from lab.run.clocks import ClockOffset
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


def test_the_quickest_trip_tells_the_offset(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(HostConnection(Host(name="x", address="127.0.0.1", via="here"), sandbox)) as host:
        assert abs(host.offset().offset_ns) < 10**9
        errors_ns = [9, 3, *[7] * (connection.PROBES - 2)]
        monkeypatch.setattr(connection, "estimate", lambda *_: ClockOffset(offset_ns=0, error_ns=errors_ns.pop()))
        assert host.offset().error_ns == 3
