"""Frames, clocks, windows and the agent's files; and an agent of this machine."""

import ast
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from commands import hosts
from core.errors import ChildFailed
from core.hosts import Host
from lab.folders import Sandbox
from lab.hosts.agent_stream import split_ssh_address
from lab.hosts.clock import ClockOffset, RoundTrip, between, estimate, overlap_faults
from lab.hosts.connection import HostConnection
from lab.hosts.protocol import MOST_BYTES, BadFrame, FrameReader, frame
from tests.test_import_table import STANDARD_LIBRARY, imports


def test_a_frame_is_two_sizes_a_json_object_and_bytes_and_comes_in_any_pieces() -> None:
    assert frame({"call": 7}, b"ab").hex() == "0000000b" + "00000002" + b'{"call": 7}'.hex() + "6162"
    frames = FrameReader()
    data = frame({"call": 7}, b"ab") + frame({"reply": 9})
    cut = [one for byte in data for one in frames.feed(bytes([byte]))]
    assert cut == [({"call": 7}, b"ab"), ({"reply": 9}, b"")]


def test_what_is_no_frame_is_refused_before_it_is_kept() -> None:
    for data in (b"Welcome to host b", bytes(4) + (MOST_BYTES + 1).to_bytes(4)):
        with pytest.raises(BadFrame):
            list(FrameReader().feed(data))


def test_the_offset_is_that_of_the_quickest_trip_give_or_take_half_of_it() -> None:
    trips = [
        RoundTrip(sent_ns=sent, there_ns=there, back_ns=back)
        for sent, there, back in ((0, 5_900, 1_000), (2_000, 7_050, 2_100))
    ]
    assert estimate(trips) == ClockOffset(offset_ns=5_000, error_ns=50, at_ns=2_050)


def test_a_drift_between_two_estimates_is_part_of_the_error() -> None:
    before = ClockOffset(offset_ns=100, error_ns=10, at_ns=0)
    after = ClockOffset(offset_ns=140, error_ns=30, at_ns=1000)
    assert between(before, after) == ClockOffset(offset_ns=120, error_ns=50, at_ns=500)


def test_windows_that_hardly_overlap_make_a_cell_invalid() -> None:
    clients = [{"finished_ns": 1000, "completion_ns": 1000}, {"finished_ns": 1100, "completion_ns": 1000}]
    assert overlap_faults(clients, 0) == []  # 900 of 1100
    assert "for only 73% of the measured time" in str(overlap_faults(clients, 50)[0])
    assert overlap_faults(clients[:1], 10**9) == []


def test_a_place_is_a_user_a_host_and_a_port() -> None:
    assert split_ssh_address("h") == ("", "h", "")
    assert split_ssh_address("me@[fe80::1]:22") == ("me", "fe80::1", "22")


def test_the_agent_imports_the_standard_library_and_3_11_can_read_it() -> None:
    """Of all that it loads: run without any other package."""
    code = "import sys; sys.path.insert(0, '.'); import lab.hosts.agent, lab.user_service.child; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    own = [name for name in done.stdout.split() if name.partition(".")[0] in ("lab", "core", "systems", "config")]
    assert "lab.hosts.agent_calls" in own
    for name in own:
        path = Path(*name.split(".")).with_suffix(".py")
        if path.exists():
            ast.parse(path.read_text(), feature_version=(3, 11))
            modules = {one.module for one in imports(path.read_text(), name.partition(".")[0])}
            modules -= {"platformdirs"} if name == "lab.places" else set()  # of an installation; an agent's is none
            assert modules <= STANDARD_LIBRARY | {"lab", "core", "systems", "services", "clients", "experiments"}, path


def test_a_child_of_an_agent_is_written_to_read_and_waited_for(sandbox: Sandbox) -> None:
    with closing(HostConnection(Host(name="x", address="127.0.0.1", via="here"), sandbox.process_group)) as connection:
        assert abs(connection.offset().offset_ns) < 10**9
        child = connection.start(["sh", "-c", "cat; echo end >&2; exit 5"], {})
        child.write(b"x" * 100_000 + b"\n")
        child.close_stdin()
        assert child.wait(60) == 5
        assert child.read() == b"x" * 100_000 + b"\n"
        assert child.stderr.content() == b"end\n"
        child.close()
        with pytest.raises(ChildFailed, match="No such file"):
            connection.start(["/nonexistent"], {})


def test_the_error_of_ssh_is_shown_with_the_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text("a: {ssh: 'nobody@127.0.0.1:1', address: 127.0.0.1}")
    assert hosts.main(["--hosts", str(file), "--runtime", "3.14"]) == 1
    assert "cannot be used: Host a cannot be used: ssh: connect to host 127.0.0.1 port 1" in capsys.readouterr().out
