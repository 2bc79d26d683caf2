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
from core.messages import NOTHING, Message, message
from core.result import PROFILES
from core.system import System
from lab.places import REPOSITORY
from lab.profile import perf, stack_files, stacks
from lab.run.inside import Inside, Window
from lab.run.measure import Bench, measure
from lab.run.runs import Order

STACKS = "stacks"  # the part of core/inside
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
        why = complaints[0] if complaints else message("no Python process of the service was sampled")
        return _not_profiled(message("{complaint}", complaint=why))
    _write(seen[0], cell, folder / PROFILES)
    return {
        **stacks.to_json(seen[0]),
        "tree": stack_files.tree(seen[0]),
        "sentence": stacks.sentence(seen[0]).to_json(),
    }


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
    return NOTHING if sys.platform == "linux" else message("--profile python needs Linux.")


Profiler = Callable[[Cell, System, Bench, Path], dict[str, Any]]
PROFILERS: Mapping[str, Profiler] = {"perf": _by_perf, "python": _by_stacks}
OBSTACLES: Mapping[str, Callable[[], Message]] = {"perf": perf.obstacle, "python": _needs_linux}
