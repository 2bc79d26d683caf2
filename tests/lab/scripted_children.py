"""A cell whose services and clients are scripts that say what a test wants."""

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from core.histogram import Histogram
from core.runtime import RuntimeName
from core.system import System
from lab.folders import Sandbox
from lab.python.interpreters import Interpreter
from lab.run.cell_processes import Bench
from lab.run.measure import measure
from lab.run.measured_runtimes import Runtime
from record.saved_run import CellResult
from systems import find
from tests.contract.serving import small_cell

SCRIPT = """
import os, signal, sys, time
role, ready, result = sys.argv[1:]
told = sys.stdin.readline()
if ready:
    print(ready.replace("/nowhere", f"/nowhere/{os.getpid()}"), flush=True)

if role == "client":
    sys.stdin.readline()
else:
    sys.stdin.read()
if not result:
    signal.pause()
print(result.replace('"NOW"', str(time.perf_counter_ns())), flush=True)
sys.stdin.read()
"""


GIL_OFF = {"gil_enabled_ready": False, "gil_enabled_end": False}


GIL_ON = {"gil_enabled_ready": True, "gil_enabled_end": True}


NOW = "NOW"  # on the host's monotonic clock, when it says so


USAGE = {"cpu_user_ns": 5, "cpu_system_ns": 6, "max_rss_bytes": 7}


def latency(*values_ns: int) -> Any:
    """A histogram as a client says it."""
    histogram = Histogram()
    for value in values_ns:
        histogram.record(value)
    return histogram.to_json()


def client_says(**other: Any) -> dict[str, Any]:
    """The result of a client that had all of its 20 requests answered, but for *other*."""
    counts = {"requests": 20, "answered": 20, "wrong": 0, "errors": {}, "calc_ns": 100}
    times = {"started_ns": 0, "finished_ns": NOW, "completion_ns": 1000}
    answered = other.get("answered", 20)
    latencies = latency(*range(1, 1 + (answered if isinstance(answered, int) else 20)))
    return {**counts, **times, "latency": latencies, **USAGE, **GIL_ON, **other}


def service_says(**other: Any) -> dict[str, Any]:
    """The result of a service, but for *other*."""
    return {"requests": 20, **USAGE, **GIL_ON, **other}


Scripted = Callable[..., CellResult]


@pytest.fixture
def scripted(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Measures a cell whose services and clients say these lines; several clients take turns in saying."""
    interpreter = Interpreter(executable=Path(sys.executable), source="given", facts={"version": "3.14.0"})

    def run(
        *,
        service: object = None,
        clients: tuple[object, ...] = (),
        ready: object = None,
        runtime_name: str = "3.14",
        turns_gil_on: bool = False,
        watch: Callable[[int], AbstractContextManager[object]] = nullcontext,
        **params: Any,
    ) -> CellResult:
        lines = [service_says() if service is None else service]
        said = {"service": cycle(lines), "client": cycle(clients or [client_says()])}
        ready_line = _text({"ready": True, "addresses": ["/nowhere"], "runtime": {}} if ready is None else ready)

        def command(runtime: Runtime, system: System, role: str) -> list[str]:
            result = next(said[role])
            text = _text({"result": result} if isinstance(result, dict) else result)
            return [sys.executable, "-c", SCRIPT, role, ready_line, text]

        monkeypatch.setattr(Runtime, "command", command)
        runtime = Runtime(name=RuntimeName(runtime_name), interpreter=interpreter)
        system = replace(find("2"), turns_gil_on=turns_gil_on)
        cell = small_cell(system, runtime, **params)
        bench = Bench(sandbox=sandbox, runtimes={runtime_name: runtime}, watch=watch)
        return measure(cell, system, 3, bench)

    return run


def _text(line: object) -> str:
    return line if isinstance(line, str) else json.dumps(line)
