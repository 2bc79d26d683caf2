"""Cells across three hosts, over SSH; their clocks are an hour and more apart."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from shutil import copy

import pytest

from commands import hosts, run
from core.layout import Host
from core.messages import ChildFailed
from lab.folders import Sandbox
from lab.hosts.cluster import HostCluster
from lab.hosts.connection import HostConnection
from lab.places import REPOSITORY
from lab.run.measured_runtimes import Runtime
from record.run_file import load
from tests.lab.hosts.conftest import SECONDS, Measured, at_release
from tests.lab.hosts.namespaces import CLOCKS_S, Lab, sh, wait_until
from tests.lab.python.fake_pythons import script

MINUTE_NS = 60 * 10**9
LEFT_NOTHING_S = 10.0  # as docs/hosts.md promises


def test_services_run_on_one_host_and_clients_take_turns_on_the_others_of_which_facts_and_links_are_known(
    measured: Measured, spread: HostCluster
) -> None:
    """It is invalid where the machine is busy: windows overlap too little."""
    cell = measured()
    assert cell.status != "failed", str(cell.reason)
    assert cell.answered == cell.requests > 0
    assert [service.host for service in cell.services] == ["a"]
    assert [client.host for client in cell.clients] == ["b", "c"]
    assert (cell.waiting.count, cell.slow) == (0, {})  # which two clocks would make
    first = min(host["released_ns"] for host in cell.hosts.values())
    for client in cell.clients:  # of our clock
        assert first < client.finished_ns < first + MINUTE_NS
        assert client.completion_ns >= SECONDS * 1e9
    for name, host in cell.hosts.items():
        assert abs(host["offset_ns"] - CLOCKS_S[name] * 10**9) <= host["error_ns"] < 10**9
    facts = spread.facts()
    assert facts.keys() == {"a", "b", "c"}
    assert facts["a"]["link"] is None
    assert all(facts[name]["link"]["least_ns"] > 0 and facts[name]["link"]["bytes_per_s"] for name in "bc")


def test_other_systems_are_measured_across_hosts(measured: Measured) -> None:
    for number in ("1", "alt-http-server"):
        cell = measured(number)
        assert cell.answered == cell.requests > 0, str(cell.reason)


def test_arms_take_turns_across_hosts(measured: Measured, spread: HostCluster) -> None:
    cell = measured(arms=2)
    assert cell.status != "failed", str(cell.reason)
    assert cell.answered == cell.requests > 0
    assert cell.wall_ns == cell.turns.slices * cell.turns.length_ns
    assert [client.host for client in cell.clients] == ["b", "c"]
    assert sum(client.uncounted or 0 for client in cell.clients) > 0
    # On a busy machine an arm has one long slice, and then no time between slices.
    assert (cell.turns.idle_ns > 0) == (cell.turns.slices > 1)
    assert 0 <= cell.turns.idle_cpu_ns <= cell.turns.idle_ns
    assert max(spread.connected["b"].ran_ns(1).values()) > 0


def test_a_stranger_is_closed_and_counted(
    lab: Lab, measured: Measured, spread: HostCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This machine is no client of the cell."""
    service, knocked = lab.machines["a"], []

    def knock() -> None:
        for port in service.ports():
            with closing(socket.create_connection((service.address, port), 10)) as stranger:
                knocked.append(stranger.recv(1))

    at_release(monkeypatch, spread, before=knock)
    cell = measured(NUM_MULTI_SOCKET=2)
    assert cell.answered == cell.requests > 0, str(cell.reason)
    assert [service.strangers for service in cell.services] == [len(knocked)]
    assert {*knocked} == {b""}


# ---- faults --------------------------------------------------------------------------------------------------------


def expect_nothing_left(lab: Lab, *names: str, before: Collection[int] = ()) -> None:
    """But for the processes of *before*, which are of another run's agents."""
    wait_until(lambda: processes(lab, *names) <= {*before}, "nothing of ours runs there", LEFT_NOTHING_S)


def processes(lab: Lab, *names: str) -> set[int]:
    return set().union(*(lab.machines[name].processes() for name in names))


def test_a_link_that_is_cut_in_a_window_of_a_minute_and_a_stopped_agent_leave_nothing_and_fail_cells_until_it_is_back(
    lab: Lab, measured: Measured, spread: HostCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent of c cannot know of the cut but by its kernel; that of b does nothing more by itself."""
    cut, stopped = spread.connected["c"], spread.connected["b"]

    def cut_and_stop(released_ns: int) -> None:
        cut.tell("hold", until_ns=cut.before.to_host_clock(released_ns + MINUTE_NS))
        lab.link("c", "down")
        (agent,) = (
            pid for pid in lab.machines["b"].processes() if b"runpy" in Path(f"/proc/{pid}/cmdline").read_bytes()
        )
        os.kill(agent, signal.SIGSTOP)

    at_release(monkeypatch, spread, after=cut_and_stop)
    assert measured().status == "failed"
    wait_until(lambda: bool(cut.lost and stopped.lost), "both hosts are lost")
    assert "ost c" in str(cut.lost)
    expect_nothing_left(lab, "b", "c")
    monkeypatch.undo()
    failed = measured()
    assert failed.status == "failed"
    assert "host c" in str(failed.reason).lower()
    lab.link("c", "up")
    assert measured().answered > 0
    spread.close()
    expect_nothing_left(lab, *lab.machines)


def refusal(sandbox: Sandbox, host: Host) -> str:
    with pytest.raises(ChildFailed) as error:
        HostConnection(host, sandbox)
    return str(error.value)


def test_a_changed_host_key_is_refused(
    lab: Lab, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = (lab.folder / "host_b.pub").read_text().split()[:2]
    known = tmp_path / "known_hosts"
    known.write_text(f"{lab.machines['a'].address} {' '.join(other)}\n")
    monkeypatch.setenv("KNOWN_HOSTS", str(known))
    assert "host key" in refusal(sandbox, lab.host("a")).lower()


@pytest.fixture
def bare(lab: Lab, tmp_path: Path) -> Iterator[Path]:
    """All that is on the PATH of c: a folder with a shell."""
    copy("/bin/sh", tmp_path / "sh")
    lab.machines["c"].end()
    lab.start("c", path=str(tmp_path))
    yield tmp_path
    lab.machines["c"].end()
    lab.start("c")


def test_a_missing_python_is_named_a_missing_runtime_is_installed_there_by_uv_and_a_full_disk_is_named(
    lab: Lab, sandbox: Sandbox, bare: Path, any_runtime: Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no Python 3.11 or newer" in refusal(sandbox, lab.host("c"))
    executable, name = any_runtime.interpreter.executable, any_runtime.name
    other = "python3.12" if any_runtime.name.minor != 12 else "python3.13"  # it runs the agent, and is not looked for
    (bare / other).symlink_to(executable)
    install = f"[ $2 = install ] && exec /bin/ln -s {executable} {bare}/python{name}"
    script(bare / "uv", f"echo $* >> {bare}/log\n{install}")
    flags = ["--hosts", str(hosts_file(lab, bare, "c")), "--runtime", name]
    assert hosts.main(flags) == 1
    assert f"missing   runtimes {name}. Install these runtimes with --install." in capsys.readouterr().out
    assert hosts.main([*flags, "--install"]) == 0
    assert f"python install {any_runtime.name.interpreter}" in (bare / "log").read_text()
    assert f"runtimes  {name} ({any_runtime.interpreter.facts['version']})" in capsys.readouterr().out
    there = f"nsenter -t {lab.machines['c'].process.pid} -m"
    sh(f"{there} mount -t tmpfs -o size=64k none {lab.machines['c'].folder}/cache")
    assert "No space left on device" in refusal(sandbox, lab.host("c"))


def hosts_file(lab: Lab, folder: Path, *names: str) -> Path:
    file = folder / "hosts.yaml"
    described = {name: {"ssh": lab.host(name).ssh, "address": lab.host(name).address} for name in names}
    file.write_text(json.dumps(described))
    return file


def test_a_runner_that_is_killed_leaves_nothing_on_its_hosts_and_another_goes_on_with_the_same_hosts(
    lab: Lab, tmp_path: Path, any_runtime: Runtime
) -> None:
    result, command = tmp_path / "run/result.json", [sys.executable, str(REPOSITORY / "runner.py")]
    flags = (
        f"--hosts {hosts_file(lab, tmp_path, *'abc')} --services-on a --clients-on b,c --system 4 --blocks 2 --runtime "
        f"{any_runtime.name} --num-api-services 1 --num-clients 2 --duration {SECONDS} --out {tmp_path / 'run'}"
    ).split()
    before = processes(lab, *lab.machines)
    with subprocess.Popen([*command, *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as runner:
        try:
            wait_until(lambda: result.exists() and len(load(result).cells) >= 1, "a cell is saved", 180)
        finally:
            runner.kill()
    expect_nothing_left(lab, *lab.machines, before=before)
    run.main(["--resume", str(result.parent)])
    finished = load(result)
    assert [(one.block, one.services[0].host) for one in finished.cells] == [(1, "a"), (2, "a")]
    for cell in finished.cells:
        assert {one.host for one in cell.clients if one.answered} == {"b", "c"}
