"""Measures each setting and runtime once more, under a profiler. No figure includes these extra
measurements.

lab/run/experiment.py calls profiles() after the blocks of a run. Results go to Run.profiles, not
to Run.cells. A kind of profile is a method of CellProfiler: `python` samples stacks by
core/inside/stacks.py inside the services, and `locks` watches the first service from outside.
commands/running.py has left out the kinds that this machine does not support.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from core.cell import Cell
from core.files import put
from core.messages import NOTHING, BadInput, ChildFailed, GilscopeError, Json, message, verbatim
from core.system import SERVICE, System
from lab.profile import lock_report
from lab.profile import stack_samples as stacks
from lab.profile.lock_watcher import LockFacts, run_self_test, watched
from lab.run.cell_processes import Bench
from lab.run.instrumentation import Instrumentation, TimeWindow
from lab.run.measure import measure
from lab.run.measured_runtimes import AnyRuntime, Runtime, UserServiceRuntime
from lab.run.runs import Order
from lab.user_service.process_memory import KNOWN
from record.saved_run import PROFILES, CellResult

STACKS = "stacks"  # a part of core/inside, and the prefix of its files' names
MOST_STACK_BYTES = 16 << 20
WATCHED_S = 300.0  # deadline for the self-test, and for what was watched in a window
OLDEST_MINOR = 14  # of CPython, whose stacks can be read from outside


def profiles(order: Order, bench: Bench) -> list[dict[str, Any]]:
    """Profile each cell of the plan with each profiler that *order* names. Return `profiles` of
    result.json.

    A profile has `kind`, the fields of its cell, and what stack_samples.to_json() or
    lock_report.to_json() returns; only `sentence`, with the reason, if the cell was not profiled.
    """
    bench, found = replace(bench, inside={}), []
    for kind in order.profiles:
        for cell in order.plan.cells():
            profiler = CellProfiler(cell, order.plan.system_of(cell), bench, order.folder)
            try:
                # the kinds of --profile are the names of the methods
                profile = getattr(profiler, kind)()
            except GilscopeError as failed:
                profile = {
                    "sentence": message("not profiled: {reason}", reason=failed.message).to_json()
                }
            found.append({"kind": kind, **cell.to_json(), **profile})
    return found


class CellProfiler(NamedTuple):
    """A profiler of one cell (runtime and setting), which measures the cell once more. It has a
    method for each kind.

    folder: where stacks are written for other tools
    """

    cell: Cell
    system: System
    bench: Bench
    folder: Path

    def python(self) -> Json:
        """Profile by Python line what the services' threads run and wait for. Write their stacks to
        the folder.
        """
        runtime = self.bench.runtime(self.cell, self.system, SERVICE)
        python = _python_of(runtime)
        if python and python.name.minor < OLDEST_MINOR:
            raise ChildFailed(
                "--profile python needs CPython 3.14 or later, but the service runs {version}",
                version=python.version,
            )
        own: Json = runtime.child_config(self.system).get("own", {})
        seen: list[stacks.Samples] = []
        files: list[bytes] = []
        complaints: list[str] = []

        def after(instruments: Sequence[Instrumentation], window: TimeWindow) -> None:
            for inside in instruments:
                files.extend(inside.files(STACKS, MOST_STACK_BYTES).values())
                complaints.extend(inside.complaints())
            root = str(own.get("directory") or instruments[0].root)
            seen.append(stacks.read(files, *window, root))

        self._measure(replace(self.bench, inside={STACKS: {}}, after=after))
        if not seen[0].at_work:
            complaint = verbatim(complaints[0]) if complaints else NOTHING
            raise ChildFailed(complaint or message("no Python process of the service was sampled"))
        _write(seen[0], self.cell, self.folder / PROFILES)
        return stacks.to_json(seen[0])

    def locks(self) -> Json:
        """Profile which locks the first service's threads wait for, and which lines cause
        stop-the-world pauses.
        """
        executable = _known_interpreter(self.bench.runtime(self.cell, self.system, SERVICE))
        places, recorded = self.bench.cell_places(), []
        places.begin()
        if executable:
            places.of_services.call(None, run_self_test, executable, deadline_s=WATCHED_S)

        @contextmanager
        def watch(pid: int) -> Iterator[None]:
            host = places.of_services
            begun = host.begin(watched, pid)
            try:
                yield
            finally:
                recorded.append(host.finish(LockFacts, begun, WATCHED_S))

        result = self._measure(replace(self.bench, watch=watch))
        (facts,) = recorded
        # the first service's part of all requests, for the part of the window that was watched
        part = min(1.0, facts.watched_ns / max(1, result.wall_ns)) / self.system.services(self.cell)
        in_flight_ns = result.latency.total_ns
        return lock_report.to_json(facts, result.answered * part, in_flight_ns * part)

    def _measure(self, bench: Bench) -> CellResult:
        """Measure the cell, and return its result. Raises ChildFailed if the result is not ok."""
        result = measure(self.cell, self.system, 0, bench)  # block 0: of no block
        if result.status != "ok":
            raise ChildFailed(result.reason)
        return result


def _python_of(runtime: AnyRuntime) -> Runtime | None:
    """Return the Python that gilscope starts the services with; None if it starts none."""
    python = runtime.runtime if isinstance(runtime, UserServiceRuntime) else runtime
    return python if isinstance(python, Runtime) else None


def _known_interpreter(runtime: AnyRuntime) -> str:
    """Return the path of a free-threaded interpreter. Return "" for an interpreter with a GIL.

    Raises ChildFailed if the interpreter's memory layout is unknown.
    """
    python = _python_of(runtime)
    if not python:
        raise ChildFailed(
            "locks can be profiled only in services that gilscope starts with CPython {known}",
            known=KNOWN,
        )
    if python.name.version not in KNOWN:
        raise ChildFailed(
            "locks can be profiled only in CPython {known}, but the service runs {version}",
            known=KNOWN,
            version=python.version,
        )
    return (
        str(python.interpreter.executable) if python.interpreter.facts["gil_disabled_build"] else ""
    )


def _write(samples: stacks.Samples, cell: Cell, folder: Path) -> None:
    """Write the stacks in folded format. Raises BadInput if the file cannot be written."""
    name = re.sub(r"[^\w.+-]", "_", cell.cell_id)
    try:
        folder.mkdir(exist_ok=True)
        put(folder / f"{name}.folded.txt", stacks.folded(samples))
    except OSError as error:
        raise BadInput(
            "{folder} cannot be written: {error}. Free some space, or give write access.",
            folder=folder,
            error=error.strerror or str(error),
        ) from error
