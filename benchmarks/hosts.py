"""Measure runs across hosts: `python -m benchmarks.hosts bars` with three network namespaces, `scale` with 50 agents.

bars [--blocks 6] [--cpus SERVICES CLIENTS] [FLAGS of the runner]: compare system 4 on three hosts
and on one machine with the same pinning. Print verdicts, the skew of the clients' starts, and the overhead of a cell.
With `--cpus 0-1 0-1`, services use two cores, and 3.14t is faster.

scale: memory use, and the time until 50 x 20 children have started and have sent their results.
"""

import json
import os
import selectors
import sys
from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter_ns

from benchmarks.bench import run_of
from core.hosts import Host, Layout
from core.method import Method
from core.processtree import descendants, usage_of
from core.result import Run
from lab.hosts.cluster import HostCluster
from lab.hosts.connection import RemoteProcess
from lab.machine.host import raise_open_files
from lab.python import interpreters
from tests.lab.hosts.namespaces import Lab, python_path, why_not

RUNTIMES = ("3.14t+gil", "3.14t")
HOSTS, CLIENTS = 50, 20
RESULT_BYTES = 40_000
CHILD = f"read go; echo started; read more; head -c {RESULT_BYTES} /dev/zero | tr '\\0' x; echo"
COMMON = (
    f"--system 4 --runtime {','.join(RUNTIMES)} --duration 1 --warmup 0.2s --seed 1 --num-api-services 1 "
    "--num-clients 2 --num-threads-per-client 4 --order sequential"
).split()


def bars(*arguments: str) -> None:
    """Measure system 4 on one machine, then on three hosts in network namespaces of the machine."""
    if reason := why_not():
        sys.exit(reason)
    parser = ArgumentParser(prog="bars")
    parser.add_argument("--blocks", default="6")
    parser.add_argument("--cpus", nargs=2, default=("0", "1"))
    given, flags = parser.parse_known_args(arguments)
    flags += ["--blocks", given.blocks]
    services, clients = given.cpus
    pins = ("--pin", f"services={services}", f"clients={clients}")
    _print_run("one machine", run_of(*COMMON, "--transport", "tcp", *pins, *flags))
    found = interpreters.find(RUNTIMES)
    with (
        TemporaryDirectory() as folder,
        Lab(folder=Path(folder), path=python_path([one.executable for one in found.values()])) as lab,
    ):
        file = Path(folder, "hosts.yaml")
        file.write_text("".join(_entry(lab, name, services if name == "a" else clients) for name in "abc"))
        run = run_of(*COMMON, "--hosts", str(file), "--services-on", "a", "--clients-on", "b,c", *flags)
    _print_run("three hosts", run)
    _print_skew(run)


def _print_run(name: str, run: Run) -> None:
    states = [cell.status for cell in run.cells]
    overhead_s = median(cell.overhead_ns for cell in run.cells) / 1e9
    print(f"{name}: {states.count('ok')} of {len(states)} cells ok, overhead {overhead_s:.2f} s a cell (median)")
    for compared in run.comparisons:
        span = f"[{compared['low']}, {compared['high']}]"
        print(f"  {compared['step']}: {compared['ratio']} {span} {compared['verdict']}")


def _entry(lab: Lab, name: str, cpus: str) -> str:
    host = lab.host(name)
    fields = {"ssh": host.ssh, "address": host.address, "identity_file": host.identity_file}
    return f"{name}: {json.dumps({**fields, 'known_hosts': host.known_hosts, 'cpus': cpus})}\n"


def _print_skew(run: Run) -> None:
    skews_us, errors_us, late_us = [], [], []
    for cell in run.cells:
        starts = [client["finished_ns"] - client["completion_ns"] for client in cell.clients]
        if len(starts) > 1:
            skews_us.append((max(starts) - min(starts)) / 1e3)
            late_us += [cell.hosts[name]["late_ns"] / 1e3 for name in "bc"]
            errors_us.append(max(host["error_ns"] for host in cell.hosts.values()) / 1e3)
    print("clocks: b +1 h, c -30 min")
    for what, measured_us in (
        ("start skew", skews_us),
        ("after the start that their host's clock was told", late_us),
        ("clock error", errors_us),
    ):
        print(f"{what}: median {median(measured_us):.0f} us, most {max(measured_us):.0f} us")


def scale() -> None:
    """Start 50 agents on this machine with 20 children each, and print times and memory use."""
    raise_open_files(4 * HOSTS * CLIENTS)
    hosts = {f"h{number}": Host(name=f"h{number}", address="127.0.0.1", via="here") for number in range(HOSTS)}
    begun_ns = perf_counter_ns()
    with HostCluster(Layout(hosts=hosts, services_on="h0", clients_on=tuple(hosts)), Method()) as spread:
        _print_time("connected", begun_ns)
        of_host = {
            name: [place.start(["sh", "-c", CHILD], {}) for _ in range(CLIENTS)]
            for name, place in spread.connected.items()
        }
        children = [child for own in of_host.values() for child in own]
        _print_time("children started", begun_ns)
        for place in spread.connected.values():
            place.before = place.offset()
        at_ns = perf_counter_ns() + 200_000_000
        for name, place in spread.connected.items():
            place.release(at_ns, 0, of_host[name])
        _hear(children, len("started\n"))
        _print_time("from go until all had started and said so", at_ns)
        for child in children:
            child.write(b"more\n")
        total = _hear(children, RESULT_BYTES + 1)
        _print_time(f"from go until {total / 1e6:.0f} MB of results were here", at_ns)
        runner, agents = (usage_of(pids)["pss_bytes"] / 1e6 for pids in ([os.getpid()], descendants(os.getpid())))
        print(f"memory: runner {runner:.0f} MB, all agents {agents:.0f} MB")
        for child in children:
            child.close()


def _hear(children: list[RemoteProcess], size_bytes: int) -> int:
    """Read *size_bytes* from each child, or up to the end of its output. Return the number of bytes in total."""
    left = dict.fromkeys(children, size_bytes)
    with selectors.DefaultSelector() as selector:
        for child in children:
            selector.register(child, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                child = key.fileobj  # type: ignore[assignment]
                data = child.read()
                left[child] -= len(data)
                if left[child] <= 0 or not data:
                    selector.unregister(child)
    return sum(size_bytes - rest for rest in left.values())


def _print_time(what: str, since_ns: int) -> None:
    print(f"{what}: {(perf_counter_ns() - since_ns) / 1e9:.3f} s")


if __name__ == "__main__":
    {"bars": bars, "scale": scale}[sys.argv[1]](*sys.argv[2:])
