"""Run a load generator of another project as the client of a measurement.

Usage: `python -m experiments.loadgen.peers wrk`. The client follows docs/child-contract.md.

The generator uses the cell's number of connections, and the number of requests or the duration of
the plan. The result is the generator's own output; its CPU time is from the operating system.

Sources of the options: https://httpd.apache.org/docs/2.4/programs/ab.html, and the README of
https://github.com/wg/wrk and https://github.com/hatoo/oha.

load_systems.py names this module as the host of these programs. The standard library is enough. An
exception ends the process, and the cell fails with its traceback. A new generator is an entry of
GENERATORS, and a _peer() of load_systems.py.
"""

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter_ns
from typing import Any

from core.cell import Cell
from core.child import (
    STOPPED_EARLY,
    ParentWatch,
    ProcessTimes,
    exit_at_once,
    print_done,
    print_ready,
    read_cell,
)
from core.histogram import Histogram
from core.method import Method
from core.parent import die_with_parent
from core.runtime import NATIVE

WARM_UP_S = 1  # of a generator that accepts only a duration; the shortest duration
LAST_BYTES = 1000  # of the output, in errors
VERSION_TIMEOUT_S = 10
UNKNOWN = "unknown"  # version of a program that prints none
# more than ab can send; ab stops at a number of requests even if a time is given
MOST_PER_S = 200_000


def run(
    command: Sequence[str], timeout_s: float | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run *command* to its end. The kernel kills it if this process ends. Raises OSError if the
    program is missing, and TimeoutExpired.
    """
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        preexec_fn=partial(die_with_parent, os.getpid(), signal.SIGKILL),
        check=False,
        timeout=timeout_s,
    )


@dataclass(frozen=True, kw_only=True)
class Load:
    """The load that a generator must send.

    timed: whether the generator stops after *seconds* and not after *requests*. A generator without
        an option for the number of requests always stops after *seconds*
    """

    url: str
    connections: int
    requests: int
    seconds: int
    keep_alive: bool
    threads: int
    timed: bool = False


@dataclass(frozen=True, kw_only=True)
class Report:
    """The figures that a load generator printed: answers of any status, failed requests and run
    time.
    """

    answered: int
    failed: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Generator:
    """A load generator of another project: its command line, its output and its version.

    begin, end: the command line before and after the options of *connections* and *amount*, with
        the fields of Load
    connections: the options for new connections, and for kept connections
    amount: the options for a number of requests, and for a time
    read(output): parses the output
    prints_version: the command that prints the version
    by_time: whether the generator has no option for the number of requests
    """

    begin: str
    connections: tuple[str, str]
    amount: tuple[str, str] = ("", "")
    end: str = "-c {connections} {url}"
    read: Callable[[str], Report]
    prints_version: str
    by_time: bool = False

    def command(self, load: Load) -> list[str]:
        """Return the command line that sends *load*."""
        most = {
            "most_threads": min(load.threads, load.connections),
            "most_requests": load.seconds * MOST_PER_S,
        }
        line = (
            f"{self.begin} {self.connections[load.keep_alive]} {self.amount[load.timed]} {self.end}"
        )
        return shlex.split(line.format(**vars(load), **most))

    def version(self) -> str:
        """Return the version that the program prints, even if it then exits with status 1. UNKNOWN
        if it is missing.
        """
        command = self.prints_version.split()
        try:
            done = run(command, VERSION_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired):
            return UNKNOWN
        return _match(rf"(?:Version|{command[0]}) (\S+)", done.stdout + done.stderr, UNKNOWN)


def _read_ab(output: str) -> Report:
    return Report(
        answered=int(_match(r"Complete requests:\s+(\d+)", output)),
        failed=int(_match(r"Failed requests:\s+(\d+)", output))
        + int(_match(r"Non-2xx responses:\s+(\d+)", output, "0")),
        seconds=float(_match(r"Time taken for tests:\s+([\d.]+)", output)),
    )


def _read_wrk(output: str) -> Report:
    failures = re.search(
        r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output
    )
    sockets = sum(map(int, failures.groups())) if failures else 0
    answered = int(_match(r"(\d+) requests in ", output))
    rate = float(_match(r"Requests/sec:\s+([\d.]+)", output))
    return Report(
        answered=answered,
        failed=sockets + int(_match(r"Non-2xx or 3xx responses: (\d+)", output, "0")),
        seconds=answered / rate if rate else 0.0,
    )


def _read_oha(output: str) -> Report:
    printed = json.loads(output)
    statuses: Mapping[str, int] = printed["statusCodeDistribution"]
    good = sum(number for code, number in statuses.items() if code.startswith("2"))
    answered = sum(statuses.values())
    return Report(
        answered=answered,
        failed=answered - good + sum(printed["errorDistribution"].values()),
        seconds=printed["summary"]["total"],
    )


# Raises ValueError with the end of *output* if there is no match and no *default*.
def _match(pattern: str, output: str, default: str | None = None) -> str:
    match = re.search(pattern, output)
    if match is None and default is None:
        raise ValueError(f"the load generator's output has no {pattern!r}: {output[-LAST_BYTES:]}")
    return match[1] if match else str(default)


GENERATORS = {
    "ab": Generator(
        begin="ab -q",
        connections=("", "-k"),
        amount=(
            "-n {requests}",
            "-t {seconds} -n {most_requests}",
        ),  # -n follows -t, because -t sets -n to 50,000
        read=_read_ab,
        prints_version="ab -V",
    ),
    "wrk": Generator(
        begin="wrk -t{most_threads} -c{connections} -d{seconds}s",
        connections=("-H 'Connection: close'", ""),
        end="{url}",
        read=_read_wrk,
        prints_version="wrk -v",
        by_time=True,
    ),
    "oha": Generator(
        begin="oha --no-tui --output-format json",
        connections=("--disable-keepalive", ""),
        amount=("-n {requests}", "-w -z {seconds}s"),  # -w: wait for requests in flight
        read=_read_oha,
        prints_version="oha --version",
    ),
}


def main(name: str) -> None:
    """Run the client, which calls the load generator *name*.

    If the load generator accepts only a duration, the duration is computed from its rate in the
    warm-up.
    """
    generator, first_line = GENERATORS[name], read_cell()
    method = Method.from_json(first_line["method"])
    load = _load(first_line, method)
    version = {"program": name, "version": generator.version(), "compiler": "", "packages": {}}
    print_ready([], {"implementation": NATIVE, "gil_enabled": False, **version})
    watch = ParentWatch()
    while (word := watch.next_command()) != "go":
        if word != "warm":
            exit_at_once(STOPPED_EARLY)
        requests = max(load.connections, round(load.requests * method.warmup.share))
        report = _run(generator, replace(load, requests=requests, seconds=WARM_UP_S))
        if generator.by_time and not load.timed:
            load = replace(
                load, seconds=max(1, round(load.requests * report.seconds / report.answered))
            )
        print_done(word)
    usage, started_ns = ProcessTimes(resource.RUSAGE_CHILDREN), perf_counter_ns()
    report = _run(generator, load)
    requests = report.answered if load.timed or generator.by_time else load.requests
    watch.print_result({**usage.to_json(), **_result(report, requests, started_ns)})
    watch.next_command()  # blocks until the end of file on stdin, which ends the process


def _load(first_line: Mapping[str, Any], method: Method) -> Load:
    cell = Cell.from_json(first_line)
    return Load(
        url=f"http://{first_line['addresses'][0][0]}/",
        connections=cell.num_connections_per_client,
        requests=cell.num_requests_per_client,
        seconds=max(WARM_UP_S, round(method.duration_s)),
        keep_alive=cell.keep_alive,
        threads=len(os.sched_getaffinity(0)),
        timed=bool(method.duration_s),
    )


def _run(generator: Generator, load: Load) -> Report:
    """Run the load generator once. Return its report.

    Raises ValueError with its output if it fails or reports no answer.
    """
    done = run(generator.command(load))
    printed = done.stdout + done.stderr
    if done.returncode:
        raise ValueError(
            f"the load generator exited with status {done.returncode}: {printed[-LAST_BYTES:]}"
        )
    report = generator.read(done.stdout)
    if not report.answered:
        raise ValueError(f"the load generator received no answer: {printed[-LAST_BYTES:]}")
    return report


def _result(report: Report, requests: int, started_ns: int) -> dict[str, Any]:
    completion_ns = round(report.seconds * 1e9)
    return {
        "started_ns": started_ns,
        "finished_ns": started_ns + completion_ns,
        "completion_ns": completion_ns,
        "requests": requests,
        "answered": report.answered,
        "wrong": 0,
        "errors": {"failed": report.failed} if report.failed else {},
        # empty, because the generator measured; `said` tells the orchestrator so
        "latency": Histogram().to_json(),
        "said": {"seconds": report.seconds},
        "gil_enabled_ready": False,
        "gil_enabled_end": False,
    }


if __name__ == "__main__":
    main(sys.argv[1])
