"""What cells must pass before they are compared, and what limits the figures of those that are. Pure."""

from collections.abc import Sequence
from math import ceil
from operator import attrgetter
from statistics import median

from core.messages import NOTHING, Message, listed, message
from core.result import DISTURBANCES, CellResult, Run
from core.runtime import NATIVE
from core.system import CLIENT, SERVICE
from reports.facts.cells import grouped, reasons
from reports.facts.costs import saturation
from reports.facts.figures import cpu_ns
from reports.facts.hosts import cores_of
from reports.facts.others import others

LEAST_TIMED_NS = 2_000_000_000  # of an arm, over all blocks; docs/statistics.md has the simulation
MOST_SATURATION = 0.8
MOST_IN_USE = 0.9
MOST_DISTURBED = 0.25
MOST_IDLE = 0.01  # of a core, that an arm may use between its slices


def gate(cells: Sequence[CellResult]) -> Message:
    """Return the gate that these cells do not pass; nothing if they pass all."""
    invalid, failed = ([cell for cell in cells if cell.status == status] for status in ("invalid", "failed"))
    if invalid:
        reason = reasons(invalid[:1])[0]
        return message("{arm} in block {block}: {reason}", arm=invalid[0].arm, block=invalid[0].block, reason=reason)
    if failed:
        reason = reasons(failed)[0]
        return message("{count} of {all} cells failed: {reason}", count=len(failed), all=len(cells), reason=reason)
    return mixed(cells)


def mixed(cells: Sequence[CellResult]) -> Message:
    """Return that *cells* were not measured with one code, or those of an arm not in one environment; or nothing."""
    codes = {cell.code for cell in cells}
    if len(codes) > 1:
        return message("its cells were measured with {count} states of the code: --resume went on", count=len(codes))
    if len({bool(cell.turns) for cell in cells}) > 1:
        return message("some of its cells took turns in slices of time, and others did not")
    last = {(cell.system, cell.arm): cell.environment for cell in cells}
    changed = next((cell.arm for cell in cells if cell.environment != last[cell.system, cell.arm]), "")
    text = message("the interpreter, packages or programs of {arm} changed between its cells", arm=changed)
    return text if changed else NOTHING


def blocks_to_time(cells: Sequence[CellResult]) -> int:
    """Return how many blocks like those of *cells*, of one arm, it takes to time LEAST_TIMED_NS."""
    windows_ns = [cell.wall_ns for cell in cells if cell.clients and cell.status == "ok"]
    if not windows_ns or sum(windows_ns) >= LEAST_TIMED_NS:
        return 0
    return len(windows_ns) + ceil((LEAST_TIMED_NS - sum(windows_ns)) / median(windows_ns))


def median_saturation(cells: Sequence[CellResult], run: Run) -> float | None:
    """Share of the cores they could have had that the clients of *cells* used, median; None if not known."""
    cores = cores_of(run, CLIENT)
    shares = [share for cell in cells if (share := saturation(cell, cores)) is not None]
    return median(shares) if shares else None


def cores_in_use(cells: Sequence[CellResult], run: Run) -> float | None:
    """Share of the cores that services and clients of *cells* used together, median; None if not known."""
    cores = cores_of(run, SERVICE, CLIENT)
    spent = [(cpu_ns([*cell.services, *cell.clients]), cell.wall_ns) for cell in cells if cell.status == "ok"]
    shares = [ns / wall_ns / cores for ns, wall_ns in spent if ns and wall_ns and cores]
    return median(shares) if shares else None


def full(used: float | None, in_use: float | None, cells: Sequence[CellResult]) -> list[Message]:
    """Return that the clients were busy or the machine was full, and what follows, if so.

    used, in_use: median_saturation() and cores_in_use(), None if not known
    """
    has_native_client = all(cell.client_runtime == NATIVE for cell in cells)
    remedy = message("more cores") if has_native_client else message("--client-runtime native, or more cores")
    busy = message(
        "the clients used {used:.0%} of the cores they could have had: the service's figures are a lower bound",
        used=used,
    )
    whole = message(
        "services and clients together used {most:.0%} of the cores or more: the ratio is that of the pair, not "
        "of the service alone ({remedy})",
        most=MOST_IN_USE, remedy=remedy,
    )  # fmt: skip
    notes = (((used or 0) > MOST_SATURATION, busy), ((in_use or 0) >= MOST_IN_USE, whole))
    return [note for holds, note in notes if holds]


def disturbances(cells: Sequence[CellResult]) -> list[Message]:
    """Return what other processes used, if any block is marked for it, and what else disturbed many of the cells."""
    seen, disturbed = others(cells), otherwise_disturbed(cells)
    return [
        *([seen.marks] if seen and seen.marked else []),
        *([not_quiet(cells, disturbed)] if len(disturbed) > len(cells) * MOST_DISTURBED else []),
    ]


def otherwise_disturbed(cells: Sequence[CellResult]) -> list[CellResult]:
    """Return the cells that something disturbed besides other processes, of which is known how much they used."""
    return [cell for cell in cells if _otherwise(cell)]


def _otherwise(cell: CellResult) -> list[Message]:
    are_known = bool(cell.others) and not cell.hosts
    return [one for one in cell.disturbances if not are_known or one.code not in ("other_processes", "steal")]


def idle_cores(cells: Sequence[CellResult]) -> dict[str, float]:
    """Return how many cores each arm used between its slices, of the cells that took turns."""
    in_turns = (cell for cell in cells if cell.turns.get("idle_ns"))
    return {
        arm: sum(cell.turns["idle_cpu_ns"] for cell in of_arm) / sum(cell.turns["idle_ns"] for cell in of_arm)
        for arm, of_arm in grouped(in_turns, attrgetter("arm")).items()
    }


def background(cells: Sequence[CellResult]) -> list[Message]:
    """Return which arms worked between their slices, when they had no requests, and what to do about it."""
    return [
        message(
            "{arm} used {share:.0%} of a core while it had no requests, so it works in the background; measure it with "
            "--order sequential",
            arm=arm,
            share=cores,
        )
        for arm, cores in idle_cores(cells).items()
        if cores > MOST_IDLE
    ]


def not_quiet(cells: Sequence[CellResult], disturbed: Sequence[CellResult]) -> Message:
    """Return in how many of *cells* the machine was not quiet, and what disturbed it."""
    kinds = dict.fromkeys(DISTURBANCES.get(one.code, one) for cell in disturbed for one in _otherwise(cell))
    return message(
        "the machine was not quiet in {count} of {all} cells: {kinds}",
        count=len(disturbed), all=len(cells), kinds=listed(kinds),
    )  # fmt: skip
