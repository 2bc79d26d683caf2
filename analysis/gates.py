"""Validity checks (gates) that measurements must pass before they are compared, and notes on less
reliable numbers.

A gate returns a message with the reason, or an empty message (falsy) if the cells pass. A gate
withholds the verdict of a comparison, but a note only stands beside it. pairs.py,
pair_verdicts.py, choice.py and reports/parts/contest.py ask the gates. docs/evidence.md explains
gates and notes.
"""

from collections.abc import Sequence
from itertools import chain
from math import ceil, inf
from operator import attrgetter
from statistics import median

from analysis.cell_index import Row, grouped, is_open, reasons, request_ns
from analysis.metrics import all_cores_used, cores_used, median_of
from analysis.others import others
from analysis.stats import Estimate, paired_ratio
from core.cell import Value
from core.layout import Host, Layout
from core.messages import AND, NOTHING, Json, Message, listed, message
from core.runtime import NATIVE
from core.system import CLIENT, SERVICE
from core.user_service import SERVER, VARIANT
from record.saved_plan import MachineFacts
from record.saved_run import DISTURBANCES, CellResult, Run

# minimum timed window of an arm over all blocks; docs/measurements/statistics.md has simulations
LEAST_TIMED_NS = 2_000_000_000
MOST_SATURATION = 0.8  # of the cores available to the clients
MOST_IN_USE = 0.9  # of all cores
MOST_DISTURBED = 0.25  # of the measurements
# share of a core that an arm may use between its slices: a timer of uvicorn takes half of it
MOST_IDLE = 0.02
# of an arm over all blocks; in a shorter time, one tick of the CPU clock is a large share
LEAST_IDLE_NS = 500_000_000
TICK_NS = 10_000_000  # of the clock that counts CPU time on many machines
# fields of record/child_lines.py: ProcessUsage; None if the state could not be read
GIL_AND_JIT = {
    "GIL": ("gil_enabled_ready", "gil_enabled_end"),
    "JIT": ("jit_enabled_ready", "jit_enabled_end"),
}
FAILED = "failed"  # code of the message that measurements failed, which reports/ reads
# the layout of a run on one machine, whose name is empty
ALONE = Layout(hosts={"": Host(name="", address="")}, services_on="", clients_on=("",))
NO_COMMON_BLOCK = message(
    "no block (round of measurement) has measurements of both sides of the comparison"
)


def failed_gate(cells: Sequence[CellResult]) -> Message:
    """Return why one of *cells* is invalid or failed; an empty message if all are ok."""
    by_status = grouped(cells, attrgetter("status"))
    if invalid := by_status.get("invalid"):
        first, reason = invalid[0], reasons(invalid)[0]
        return message(
            "{arm} in block {block}: {reason}", arm=first.arm, block=first.block, reason=reason
        )
    if failed := by_status.get("failed"):
        failures = message(
            "{count} of {all} measurements failed", count=len(failed), all=len(cells)
        )
        reason = reasons(failed)[0]
        return message("{failures}: {reason}", code=FAILED, failures=failures, reason=reason)
    return NOTHING


def unread(cell: CellResult) -> list[str]:
    """Return which of GIL and JIT has a state that could not be read in a process of *cell*."""
    unknown = {
        key
        for process in (*cell.services, *cell.clients)
        for key in chain(*GIL_AND_JIT.values())
        if getattr(process, key) is None
    }
    return [name for name, keys in GIL_AND_JIT.items() if unknown & {*keys}]


def state_gate(cells: Sequence[CellResult]) -> Message:
    """Return that the state of the GIL or the JIT could not be read in one of *cells*; NOTHING if
    all were read.

    The GIL of a default build needs no reading, because a default build cannot switch its GIL off.
    """
    for cell in cells:
        if names := [name for name in unread(cell) if name != "GIL" or cell.runtime.free_threaded]:
            return message(
                "the state of the {part} of {arm} could not be read in block {block}, so the "
                "difference may have a cause other than the one that the runtimes' names suggest",
                part=listed(names, last=AND), arm=cell.arm, block=cell.block,
            )  # fmt: skip
    return NOTHING


def checked_ratio(
    below: Sequence[CellResult], above: Sequence[CellResult], doubt: Message
) -> Estimate | Message:
    """Return the throughput of *above* divided by that of *below*, or why they cannot be compared.

    below, above: all measurements of two arms or settings, including those that failed or are
        invalid
    doubt:        why no measurements of the run can be compared, such as A/A that differs, or
                  NOTHING
    """
    every = [*below, *above]
    ratio = paired_ratio(request_ns(below), request_ns(above))
    return failed_gate(every) or state_gate(every) or doubt or ratio or NO_COMMON_BLOCK


def mixed(cells: Sequence[CellResult]) -> Message:
    """Return how gilscope's code or the environment changed between *cells*; an empty message if
    neither changed.
    """
    codes = {cell.code for cell in cells}
    if len(codes) > 1:
        return message(
            "the compared cells were measured with {count} different versions of the code of "
            "gilscope or of the services, because the run was continued with --resume",
            count=len(codes),
        )
    if len({bool(cell.turns.slices) for cell in cells}) > 1:
        return message(
            "some of the compared cells were measured in time slices (--order slices), and others "
            "were not"
        )
    # each system, arm and variant must have had a single environment, so the last one is compared
    last = {packaged(cell): cell.environment for cell in cells}
    changed = next((cell.arm for cell in cells if cell.environment != last[packaged(cell)]), "")
    text = message(
        "the interpreter, packages or programs of {arm} changed between cells of the run",
        arm=changed,
    )
    return text if changed else NOTHING


def packaged(cell: CellResult) -> tuple[Value, ...]:
    """Return what has an environment of its own: a system, or a variant of a service, of an arm."""
    return (cell.system, cell.arm, *map(cell.params.get, (VARIANT, SERVER)))


def blocks_to_time(cells: Sequence[CellResult]) -> int:
    """Return how many blocks are needed until the timed windows add up to LEAST_TIMED_NS; 0 if they
    already do.

    cells: the measurements of one runtime or service, whose windows are added
    """
    windows_ns = [cell.wall_ns for cell in cells if cell.clients and cell.status == "ok"]
    if not windows_ns or sum(windows_ns) >= LEAST_TIMED_NS:
        return 0
    return len(windows_ns) + ceil((LEAST_TIMED_NS - sum(windows_ns)) / median(windows_ns))


def cores_of(run: Run, *roles: str) -> int:
    """Return on how many cores, over all hosts, the processes of *roles* may run; 0 if unknown.

    On a host where all of the roles are pinned (--pin), only the pinned cores count.
    """
    layout, method = run.plan.layout or ALONE, run.plan.method
    pins = {SERVICE: method.pin_services, CLIENT: method.pin_clients}
    names = {SERVICE: (layout.services_on,), CLIENT: layout.clients_on}
    facts: dict[str, MachineFacts] = {"": run.machine, **run.machine.hosts}
    cores = []
    for host in dict.fromkeys(name for role in roles for name in names[role]):
        pinned = [pins[role] for role in roles if host in names[role]]
        usable = len(layout.hosts[host].cpus) or facts.get(host, MachineFacts()).available_cores
        cores.append(len(set().union(*pinned)) if all(pinned) else usable)
    return sum(cores) if all(cores) else 0


def saturation(cell: CellResult, cores: int) -> float | None:
    """Return the share of the cores available to clients that the clients used in a measurement;
    None if unknown.

    Clients without a GIL can use all *cores*. Each client process with a GIL can use one core.
    """
    used = cores_used(cell, cell.clients)
    if used is None or cell.status != "ok" or not cores:
        return None
    # an unknown state counts as with a GIL
    with_gil = any(client.gil_enabled_end is not False for client in cell.clients)
    return used / (min(cores, len(cell.clients)) if with_gil else cores)


def median_saturation(cells: Sequence[CellResult], run: Run) -> float | None:
    """Return the share of their available cores that the clients used: the median over *cells*;
    None if unknown.
    """
    cores = cores_of(run, CLIENT)
    return median_of(lambda cell: saturation(cell, cores), cells)


def cores_in_use(cells: Sequence[CellResult], run: Run) -> float | None:
    """Return the share of all cores that services and clients used, the median over *cells*; None
    if unknown.
    """
    cores = cores_of(run, SERVICE, CLIENT)
    used = median_of(all_cores_used, (cell for cell in cells if cell.status == "ok"))
    return used / cores if used and cores else None


def full(used: float | None, in_use: float | None, cells: Sequence[CellResult]) -> list[Message]:
    """Return a note if the clients were busy, and a note if nearly all cores were in use, each with
    its consequence.

    used, in_use: the values of median_saturation() and cores_in_use(); None if unknown
    """
    has_native_client = all(cell.client_runtime == NATIVE for cell in cells)
    remedy = (
        message("use more cores")
        if has_native_client
        else message("use --client-runtime native or more cores")
    )
    busy = message(
        "the clients used {used:.0%} of the cores available to them, so the service may be faster "
        "than measured",
        used=used,
    )
    whole = message(
        "services and clients together used at least {most:.0%} of the cores, so the ratio also "
        "depends on the clients (to measure only the services: {remedy})",
        most=MOST_IN_USE, remedy=remedy,
    )  # fmt: skip
    return [*[busy] * ((used or 0) > MOST_SATURATION), *[whole] * ((in_use or 0) >= MOST_IN_USE)]


def disturbances(cells: Sequence[CellResult]) -> list[Message]:
    """Return notes on disturbances of *cells*: busy other processes, and other disturbances if they
    are frequent.
    """
    seen, disturbed = others(cells), otherwise_disturbed(cells)
    return [
        *([seen.marks] if seen and seen.marked else []),
        *([not_quiet(cells, disturbed)] if len(disturbed) > len(cells) * MOST_DISTURBED else []),
    ]


def otherwise_disturbed(cells: Sequence[CellResult]) -> list[CellResult]:
    """Return the disturbed measurements; other processes count as a disturbance only if their CPU
    use is unknown.
    """
    return [cell for cell in cells if _otherwise(cell)]


def _otherwise(cell: CellResult) -> list[Message]:
    # others() knows the steal time of this machine only, so with several hosts, nothing is left out
    are_known = bool(cell.others) and not cell.hosts
    return [
        one
        for one in cell.disturbances
        if not are_known or one.code not in ("other_processes", "steal")
    ]


def idle_cores(cells: Sequence[CellResult]) -> dict[str, float]:
    """Return how many CPU cores each runtime or service used between its time slices, when it had
    no requests.

    It is unknown for a runtime or service that was idle for less than LEAST_IDLE_NS. CPU time of
    one clock tick counts as none.
    """
    found = {}
    for arm, of_arm in grouped(
        (cell for cell in cells if cell.turns.slices), attrgetter("arm")
    ).items():
        idle_ns = sum(cell.turns.idle_ns for cell in of_arm)
        used_ns = sum(cell.turns.idle_cpu_ns for cell in of_arm)
        if idle_ns >= LEAST_IDLE_NS:
            found[arm] = used_ns / idle_ns if used_ns > TICK_NS else 0.0
    return found


def background(cells: Sequence[CellResult]) -> list[Message]:
    """Return a note for each runtime or service that used CPU time without requests, and how to
    measure it instead.
    """
    return [
        message(
            "{arm} used {share:.0%} of a core while it had no requests, so it does background "
            "work: measure it with --order sequential",
            arm=arm,
            share=cores,
        )
        for arm, cores in idle_cores(cells).items()
        if cores > MOST_IDLE
    ]


def not_quiet(cells: Sequence[CellResult], disturbed: Sequence[CellResult]) -> Message:
    """Return a note that says how many of *cells* were disturbed, and by what."""
    kinds = dict.fromkeys(
        DISTURBANCES.get(one.code, one) for cell in disturbed for one in _otherwise(cell)
    )
    return message(
        "the machine was not quiet in {count} of {all} measurements: {kinds}",
        count=len(disturbed), all=len(cells), kinds=listed(kinds),
    )  # fmt: skip


def idle_share(row: Row, cores: int) -> float | None:
    """Return the idle share (0..1) of the CPU cores that the concurrent requests of *row* could
    have kept busy.

    It is the median over the measurements of *row*.
    None if CPU times are unknown, if more than cores + 1 requests are in flight, or if requests
    come at a RATE.
    """
    timed = [cell for cell in row.good if cell.clients]
    used = [*filter(None, map(all_cores_used, timed))]
    under_way = _under_way(row.params)
    if not used or len(used) < len(timed) or under_way > cores + 1 or is_open(row.params):
        return None
    return 1 - median(used) / min(cores, under_way)


def _under_way(params: Json) -> float:
    """Return how many requests a closed loop has in flight at the same time; infinite
    if unknown.
    """
    sides: list[int] = [
        params.get(name) or 0 for name in ("NUM_THREADS_PER_CLIENT", "NUM_API_SERVICES")
    ]
    each = params.get("NUM_CONNECTIONS_PER_CLIENT") or min(sides)
    return params.get("NUM_CLIENTS", 0) * each or inf
