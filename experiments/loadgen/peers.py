"""Run a load generator of another project as the client of a measurement.

Usage: `python -m experiments.loadgen.peers wrk`. The client follows docs/child-contract.md.

The generator uses the cell's number of connections, and the number of requests or the duration of
the plan. The result is the generator's own output; its CPU time is from the operating system.

load_systems.py names this module as the host of these programs. The standard library is enough. An
exception ends the process, and the cell fails with its traceback.
"""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from experiments.loadgen.generators import GENERATORS, LAST_BYTES, Generator, Load, Report

WARM_UP_S = 1  # of a generator that accepts only a duration; the shortest duration


def run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run *command* to its end. The kernel kills it if this process ends. Raises OSError if the
    program is missing.
    """
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        preexec_fn=partial(die_with_parent, os.getpid(), signal.SIGKILL),
        check=False,
    )


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
