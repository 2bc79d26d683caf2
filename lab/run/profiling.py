"""Profiles of a run: one more cell of each setting and runtime, in no figure, watched from inside or outside."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from core.cell import Cell
from core.errors import BadInput
from core.messages import NOTHING, Message, listed, message, verbatim
from core.method import Warmup
from core.result import PROFILES
from core.system import SERVICE, System
from lab.places import REPOSITORY
from lab.profile import locks, memory, perf, stack_files, stacks
from lab.profile.frames import KNOWN
from lab.profile.lock_report import LockReport
from lab.run.inside import Inside, Window
from lab.run.measure import Bench, measure
from lab.run.runs import Order
from lab.run.runtimes import AnyRuntime, Runtime, UserServiceRuntime

STACKS, MEMORY, MALLOCS = "stacks", "memory", "mallocs"  # parts of core/inside, and what they name their files
OURS_BEFORE_A_COMMAND = 2  # lab.user_service.child, and the process that outlives it
RATE_HZ = 100
MOST_STACK_BYTES = 16 << 20


def profiles(order: Order, bench: Bench) -> list[dict[str, Any]]:
    """What the profiles that *order* wants say of each of its cells: `profiles` of result.json."""
    return [
        {
            "kind": kind,
            "cell_id": cell.cell_id,
            "system": cell.system,
            "runtime": cell.runtime,
            "params": cell.params,
            **PROFILERS[kind](cell, order.plan.systems[cell.system], replace(bench, inside={}), order.folder),
        }
        for kind in order.profiles
        for cell in order.plan.cells()
    ]


def _by_perf(cell: Cell, system: System, bench: Bench, folder: Path) -> dict[str, Any]:
    """The hottest functions and locks of its first service, in C."""
    file = bench.sandbox.folder / "perf.data"
    watch = partial(perf.Recording, file=file, process_group=bench.sandbox.process_group)
    result = measure(cell, system, 0, replace(bench, watch=watch))
    if result.status != "ok":
        return _not_profiled(result.reason)
    try:
        return perf.hottest(file).to_json()
    except perf.ProfileFailed as failed:
        return _not_profiled(failed.message)
    finally:
        file.unlink(missing_ok=True)


def _by_stacks(cell: Cell, system: System, bench: Bench, folder: Path) -> dict[str, Any]:
    """What its threads do and wait for, by the lines of Python that they are at. Their stacks go to *folder*, too."""
    seen: list[stacks.Samples] = []
    complaints: list[str] = []

    def after(insides: Sequence[Inside], window: Window) -> None:
        files = (content for inside in insides for content in inside.files(STACKS, MOST_STACK_BYTES).values())
        seen.append(stacks.read(files, window.start_ns, window.end_ns, _directory(system)))
        complaints.extend(complaint for inside in insides for complaint in inside.complaints())

    result = measure(cell, system, 0, replace(bench, inside={STACKS: {"rate_hz": RATE_HZ}}, after=after))
    if result.status != "ok":
        return _not_profiled(result.reason)
    if not seen[0].at_work:
        complaint = verbatim(complaints[0]) if complaints else NOTHING
        return _not_profiled(complaint or message("no Python process of the service was sampled"))
    _write(seen[0], cell, folder / PROFILES)
    return {
        **stacks.to_json(seen[0]),
        "tree": stack_files.tree(seen[0]),
        "sentence": stacks.sentence(seen[0]).to_json(),
    }


def _by_memory(cell: Cell, system: System, bench: Bench, folder: Path) -> dict[str, Any]:
    """What the memory of its first service is made of: before any client, and before, after and long after the load."""
    moments = memory.Moments(OURS_BEFORE_A_COMMAND if system.hosted else 0)
    known: list[dict[str, dict[str, int]]] = []

    def after(insides: Sequence[Inside], window: Window) -> None:
        started, answers = ([*map(_as_text, insides[0].files(part).values())] for part in (MEMORY, MALLOCS))
        known.append(memory.together(moments.sizes, started, memory.heaps(answers)))

    cold = replace(bench.method, warmup=Warmup())  # or connections that are idle would have been used
    watching = replace(bench, listening=moments.listening, watch=moments.watch, method=cold)
    result = measure(cell, system, 0, replace(watching, inside={MEMORY: {}}, after=after))
    if result.status != "ok":
        return _not_profiled(result.reason)
    total = sum(moments.sizes["after"][kind] for kind in memory.KINDS)
    if not total:
        return _not_profiled(message("the system does not say what its processes have mapped"))
    taken = message("{size:.1f} MiB after the load", size=total / 2**20)
    return {"moments": known[0], "sentence": taken.to_json()}


def _as_text(content: bytes) -> str:
    return content.decode(errors="replace")


def _by_locks(cell: Cell, system: System, bench: Bench, folder: Path) -> dict[str, Any]:
    """Whose locks the threads of its first service wait for, and which lines stop all threads."""
    recordings: list[locks.LockRecording] = []

    def watch(pid: int) -> locks.LockRecording:
        recordings.append(locks.LockRecording(pid))
        return recordings[0]

    try:
        _check(bench.runtime(cell, system, SERVICE))
    except locks.LocksFailed as failed:
        return _not_profiled(failed.message)
    result = measure(cell, system, 0, replace(bench, watch=watch))
    if result.status != "ok" or not recordings[0].facts:
        return _not_profiled(result.reason)
    facts = recordings[0].facts
    part = min(1.0, facts.watched_ns / max(1, result.wall_ns)) / system.services(cell)
    in_flight_ns = result.latency.get("mean_ns", 0) * result.latency.get("count", 0)
    return LockReport(facts=facts, requests=result.answered * part, in_flight_ns=in_flight_ns * part).to_json()


def _check(runtime: AnyRuntime) -> None:
    """Raises LocksFailed if it is no interpreter whose memory is known, or what is seen of known objects is wrong."""
    python = runtime.runtime if isinstance(runtime, UserServiceRuntime) else runtime
    if not isinstance(python, Runtime):
        raise locks.LocksFailed("locks are known of CPython {known}, started by gilscope, alone", known=listed(KNOWN))
    if not python.version.startswith(tuple(f"{version}." for version in KNOWN)):
        raise locks.LocksFailed(
            "locks are known of CPython {known}; this is {version}", known=listed(KNOWN), version=python.version
        )
    if python.interpreter.facts["gil_disabled_build"]:
        locks.check_known_objects(python.interpreter.executable)


def _directory(system: System) -> str:
    own: Mapping[str, Any] = system.told.get("own", {})
    return str(own.get("directory") or REPOSITORY)


def _write(samples: stacks.Samples, cell: Cell, folder: Path) -> None:
    """The stacks in the formats of other tools. Raises BadInput if they cannot be written."""
    name = re.sub(r"[^\w.+-]", "_", cell.cell_id)
    try:
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.folded.txt").write_text(stack_files.folded(samples), "utf-8")
        (folder / f"{name}.speedscope.json").write_text(stack_files.speedscope(samples, cell.cell_id), "utf-8")
    except OSError as error:
        raise BadInput(
            "{folder} cannot be written: {error}; make room or give write access.",
            folder=str(folder),
            error=error.strerror or str(error),
        ) from error


def _not_profiled(reason: Message) -> dict[str, Any]:
    return {"sentence": message("not profiled: {reason}", reason=reason).to_json()}


def _needs_linux() -> Message:
    return NOTHING if sys.platform == "linux" else message("--profile python and --profile memory need Linux.")


Profiler = Callable[[Cell, System, Bench, Path], dict[str, Any]]
PROFILERS: Mapping[str, Profiler] = {"perf": _by_perf, "python": _by_stacks, "locks": _by_locks, "memory": _by_memory}
OBSTACLES: Mapping[str, Callable[[], Message]] = {
    "perf": perf.obstacle,
    "python": _needs_linux,
    "locks": locks.obstacle,
    "memory": _needs_linux,
}
