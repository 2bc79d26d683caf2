"""Messages, clocks, windows and the agent's files; and an agent of this machine."""

import ast
import re
import subprocess
import sys
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest
from msgspec import structs

from commands import hosts
from core.layout import Host
from lab.folders import Sandbox
from lab.hosts import connection, protocol
from lab.hosts.connection import HostConnection
from lab.hosts.protocol import BYTES, MessageReader, encoded
from lab.machine.link import ClockOffset, between, estimate
from lab.run.cell_places import overlap_faults
from lab.run.cell_results import NO_CLIENTS
from tests.test_import_table import STANDARD_LIBRARY, imports, sources


def test_a_message_is_a_marked_line_of_json_and_comes_in_any_pieces_among_the_lines_of_a_login_shell() -> None:
    assert encoded(call=7, text="a\n") == b'gilscope {"call": 7, "text": "a\\n"}\n'
    reader = MessageReader()
    data = b"Welcome\n" + encoded(call=7, text=b"\xff".decode(errors=BYTES)) + encoded(reply=9) + b"to host b\n"
    cut = [one for byte in data for one in reader.feed(bytes([byte]))]
    assert cut == [{"call": 7, "text": "\udcff"}, {"reply": 9}]
    assert reader.noise.content() == b"to host b\n"


def test_what_is_no_message_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MOST_BYTES", 100)
    for data in (b"gilscope me\n", bytes(101)):
        with pytest.raises(ValueError, match=r"char 0|x00"):
            list(MessageReader().feed(data))


def test_the_offset_is_that_of_the_middle_of_a_trip_and_its_error_half_of_the_trip_and_the_drift_since() -> None:
    assert estimate(2_000, 7_050, 2_100) == ClockOffset(offset_ns=5_000, error_ns=50)
    assert estimate(0, 5_900, 1_001).error_ns == 501
    before, after = ClockOffset(offset_ns=100, error_ns=10), ClockOffset(offset_ns=140, error_ns=30)
    assert between(before, after) == ClockOffset(offset_ns=120, error_ns=50)


def test_windows_that_hardly_overlap_make_a_cell_invalid() -> None:
    clients = [structs.replace(NO_CLIENTS, finished_ns=end_ns, completion_ns=1000) for end_ns in (1000, 1100)]
    assert overlap_faults(clients, 0) == []  # 900 of 1100
    assert "for only 73% of the measured time" in str(overlap_faults(clients, 50)[0])
    assert overlap_faults(clients[:1], 10**9) == []


def host_modules() -> set[str]:
    """The programs that start on a host, and the modules of the functions that are called there."""
    found = {"lab.hosts.boot", "lab.hosts.agent", "lab.hosts.worker", "lab.user_service.service_child"}
    for path, source in sources("lab").items():
        calls = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Call) and one.args]
        for call in (one for one in calls if re.search(r"\b_?(call|begin)$", ast.unparse(one.func))):
            for argument in (one for one in call.args if isinstance(one, ast.Name | ast.Attribute)):
                with suppress(NameError):  # of a variable
                    called = eval(ast.unparse(argument), vars(import_module(path[:-3].replace("/", "."))))
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


def test_the_error_of_ssh_is_shown_with_the_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text("a: {ssh: 'nobody@127.0.0.1:1', address: 127.0.0.1}")
    assert hosts.main(["--hosts", str(file), "--runtime", "3.14"]) == 1
    assert "cannot be used: Host a cannot be used: ssh: connect to host 127.0.0.1 port 1" in capsys.readouterr().out
