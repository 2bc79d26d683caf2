"""A run: every block of a plan, cell by cell, saved after each."""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Protocol

from config.own import Own
from config.plan import Entry, Plan
from core.cell import Cell
from core.errors import BadInput
from core.method import Method
from core.result import FILE_NAME, CellResult, Run, RunFile, load
from core.runtime import NATIVE, RuntimeName
from core.system import CLIENT, SERVICE, System
from lab import doctor, machine, quiet
from lab.commit import commit
from lab.environments import EnvironmentFailed
from lab.inside import expect_proc
from lab.measure import NOT_READY, Bench, measure
from lab.natives import ProgramMissing
from lab.places import REPOSITORY
from lab.profile import ProfileFailed, Recording, hottest
from lab.runtimes import AnyRuntime, runtime_of
from lab.sandbox import Sandbox
from systems import every, find

RUNS = REPOSITORY / "reports" / "out"
QUIET_WINDOW_S = 0.3
FILES_PER_CHILD = 3
OWN_FILES = 64
SPARE_FILES = 32
MOST_STARTS = 2
HTTP_CLIENTS = "http-clients"

Enough = Callable[[Run, int], bool]


class Progress(Protocol):
    """Who wants to know how far a run has come."""

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """*done* of *total* cells are behind us."""

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """One more is."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """What to run: a plan, the runtimes that are present, where the run is saved; whether perf looks at it too."""

    plan: Plan
    runtimes: Mapping[str, AnyRuntime]
    folder: Path
    profile: bool = False


def new_run(order: Order, seed: int | None, command: Sequence[str], missing: Mapping[str, str]) -> Run:
    """A run that has not begun. Raises BadInput if its folder holds one already."""
    if (order.folder / FILE_NAME).exists():
        raise BadInput(
            f"{order.folder} holds a run already; name another folder with --out, "
            f"or go on with --resume {order.folder}."
        )
    now = datetime.now(UTC)
    return Run(
        run_id=order.folder.name,
        started_at=now.isoformat(timespec="seconds"),
        seed=secrets.randbelow(2**32) if seed is None else seed,
        command=list(command),
        plan=order.plan.to_json(),
        machine={**machine.facts(), "commit": commit(), "quiet": quiet.facts(QUIET_WINDOW_S)},
        runtimes={name: runtime.to_json() for name, runtime in order.runtimes.items()},
        missing=dict(missing),
    )


def run_folder(plan: Plan) -> Path:
    """A folder for a new run under reports/out; its name says when and what."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return RUNS / f"{stamp}-{plan.name}-{secrets.token_hex(2)}"


def titles(*runs: Run) -> dict[str, str]:
    """What reports call the systems, by number or name: those that are here, and those that *runs* had besides."""
    here = {system.key: system.title for system in every()}
    outside = [run.plan.get("outside", {}) for run in runs]
    owned = [one for run in runs if run.plan.get("own") for one in Own.from_json(run.plan["own"]).systems()]
    titles_outside = {key: one["title"] for systems in outside for key, one in systems.items()}
    return here | titles_outside | {one.key: one.title for one in owned}


def without_absent(plan: Plan, runtimes: Mapping[str, AnyRuntime]) -> Plan:
    """The plan with the reason of each system that cannot be measured under a runtime; it has no cells there.

    Makes the environments that systems need: packages that cannot be installed are a reason, like a program that
    is not built. `native` is no runtime of the plan where none of its programs is there.
    """
    reasons = {pair: _why_absent(find(pair[0]), pair[1], runtimes, plan.method) for pair in plan.pairs()}
    absent = {pair: why for pair, why in reasons.items() if why}
    useless = all(pair in absent for pair in plan.pairs() if pair[1] == NATIVE) and len(plan.runtimes) > 1
    names = tuple(name for name in plan.runtimes if not (useless and name == NATIVE))
    return replace(plan, runtimes=names, absent=absent)


def _why_absent(system: System, runtime: str, runtimes: Mapping[str, AnyRuntime], method: Method) -> str:
    if system.no_forced_gil and RuntimeName.parse(runtime).gil_forced:
        return system.no_forced_gil
    for role in (SERVICE, CLIENT):
        try:
            runtime_of(role, system, runtimes, runtime, method).command(system, role)
        except (ProgramMissing, EnvironmentFailed) as error:
            return str(error)
    return ""


def prepare(runtimes: Mapping[str, AnyRuntime]) -> list[str]:
    """Make the environments that the four systems need; a line for each that cannot be made."""
    lines = []
    for system in every():
        for name, runtime in runtimes.items():
            try:
                if system.group == "systems" and system.requirements:
                    runtime.command(system, SERVICE)
            except EnvironmentFailed as error:
                lines.append(f"{name}: {error}")
    return lines


def preflight(plan: Plan) -> None:
    """Make room for the open files that the plan's largest cell needs.

    Raises BadInput if there is none, for a command where processes cannot be seen, and for services without calls.
    """
    if plan.own and plan.own.command:
        expect_proc()
    _expect_calls(plan.cells())
    machine.raise_open_files(max(files_needed(cell) for cell in plan.cells()))


def _expect_calls(cells: Sequence[Cell]) -> None:
    """Raises BadInput for HTTP clients whose connections do not reach every service: each is to one of them."""
    for cell in cells:
        connections = cell.num_clients * cell.num_connections_per_client
        if find(cell.system).group == HTTP_CLIENTS and 0 < connections < cell.num_api_services:
            raise BadInput(
                f"NUM_CLIENTS x NUM_CONNECTIONS_PER_CLIENT is {connections} and NUM_API_SERVICES is "
                f"{cell.num_api_services}: {cell.num_api_services - connections} services would not be called. "
                f"Take at least {cell.num_api_services} connections."
            )


def files_needed(cell: Cell) -> int:
    """Open files of the process of *cell* that needs most: the orchestrator, a service or a client."""
    sockets = cell.num_multi_socket if "NUM_MULTI_SOCKET" in cell.reads else 1
    per_pair = cell.num_connections_per_client * (sockets if cell.client_binding == "random" else 1)
    service = sockets + cell.num_clients * per_pair
    client = cell.num_api_services * per_pair
    orchestrator = OWN_FILES + FILES_PER_CHILD * (cell.num_api_services + cell.num_clients)
    return SPARE_FILES + max(service, client, orchestrator)


def carry_out(order: Order, run: Run, progress: Progress, enough: Enough = lambda run, spent_ns: False) -> None:
    """Measure every cell of the plan that *run* does not hold yet; save after each.

    enough(run, spent_ns) is asked after every block whether it was the last.
    """
    start_ns = perf_counter_ns()
    file = RunFile(order.folder)
    file.save(run)
    done = {(result.arm, result.cell_id, result.block) for result in run.cells}
    total = order.plan.blocks * len(order.plan.entries())
    with Sandbox() as sandbox:
        bench = Bench(sandbox=sandbox, runtimes=order.runtimes, method=order.plan.method)
        for block in range(1, order.plan.blocks + 1):
            for entry in order.plan.block(block, run.seed):
                if (entry.arm, entry.cell.cell_id, block) in done:
                    continue
                progress.cell_started(entry.cell, block, len(run.cells), total)
                result = _not_started(entry, block, run) or _watched(entry, block, bench)
                run.cells.append(result)
                file.save(run)
                progress.cell_ended(result, len(run.cells), total)
            if enough(run, perf_counter_ns() - start_ns):
                break
        if order.profile:
            run.profiles = [_profiled(cell, bench) for cell in order.plan.cells()]
    run.runtimes = {name: runtime.to_json() for name, runtime in order.runtimes.items()}
    run.finished_at = datetime.now(UTC).isoformat(timespec="seconds")
    note_time(order.folder, run, "cells", perf_counter_ns() - start_ns)


def _not_started(entry: Entry, block: int, run: Run) -> CellResult | None:
    """The failure of a user's service that has never started, MOST_STARTS times: it is not waited for again."""
    if not find(entry.cell.system).hosted:
        return None
    before = [one for one in run.cells if (one.arm, one.cell_id) == (entry.arm, entry.cell.cell_id)]
    dead = [one for one in before if one.status == "failed" and NOT_READY in one.reason]
    hopeless = len(dead) >= MOST_STARTS and len(dead) == len(before)
    return replace(dead[-1], block=block, overhead_ns=0, disturbances=[]) if hopeless else None


def _watched(entry: Entry, block: int, bench: Bench) -> CellResult:
    """The cell's result, with what disturbed it on the machine meanwhile."""
    before = quiet.snapshot()
    result = measure(entry.cell, find(entry.cell.system), block, bench, entry.arm)
    window = quiet.between(before, quiet.snapshot())
    found = doctor.disturbances(window, os.cpu_count())
    return replace(result, disturbances=[f"{one.name}: {one.value}" for one in found if one.good is False])


def _profiled(cell: Cell, bench: Bench) -> dict[str, Any]:
    """One more cell, which is not counted, with perf on its first service: its hottest functions and locks."""
    profile = {"cell_id": cell.cell_id, "system": cell.system, "runtime": cell.runtime, "params": cell.params}
    file = bench.sandbox.folder / "perf.data"
    watch = partial(Recording, file=file, process_group=bench.sandbox.process_group)
    result = measure(cell, find(cell.system), 0, replace(bench, watch=watch))
    if result.status != "ok":
        return {**profile, "sentence": f"not profiled: {result.reason}"}
    try:
        return {**profile, **hottest(file).to_json()}
    except ProfileFailed as failed:
        return {**profile, "sentence": f"not profiled: {failed}"}
    finally:
        file.unlink(missing_ok=True)


def note_time(folder: Path, run: Run, what: str, spent_ns: int) -> None:
    """Add to the time that *run* has spent on *what*, and save it."""
    run.spent_ns[what] = run.spent_ns.get(what, 0) + spent_ns
    RunFile(folder).save(run)


def resumed(folder: Path) -> Run:
    """The saved run in *folder*, to go on with. Raises BadInput if it is not one of this machine."""
    run = load(folder)
    here = machine.facts()
    for name in ("cpu", "cores"):
        if run.machine.get(name) != here[name]:
            raise BadInput(
                f"{folder} was measured on a machine with {name} {run.machine.get(name)}; this one has {here[name]}. "
                "A run can only go on where it began; start a new one."
            )
    return run


def check_same_runtimes(run: Run, runtimes: Mapping[str, AnyRuntime]) -> None:
    """Raises BadInput if a runtime of *run* is gone or is another build now."""
    for name, stored in run.runtimes.items():
        here: dict[str, Any] = runtimes[name].to_json() if name in runtimes else {}
        for fact in ("version", "build"):
            if stored.get(fact) != here.get(fact):
                raise BadInput(
                    f"The run was begun with {name} {fact} {stored.get(fact)!r}, which is {here.get(fact)!r} now; "
                    "a run can only go on with the same interpreters. Bring it back, or start a new run."
                )
