"""Combines what the children of a cell sent into the fields of the cell's result."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.histogram import Histogram
from core.messages import NOTHING, Message, chained, listed, message, plural
from core.result import Status
from core.slices import Slices
from lab.machine import doctor
from lab.run.contract import HISTOGRAMS, SLICES, SLOW
from lab.run.core_waits import CumulativeTime
from lab.run.instrumentation import TimeWindow
from lab.run.pauses import ServicePauses
from lab.run.places import HERE, HostActivity
from lab.run.slow import slow_requests
from lab.run.turns import merge

OTHERS = "others"
PER_CELL = (*HISTOGRAMS, SLOW, SLICES)  # keys of clients that are stored once per cell


@dataclass(frozen=True, kw_only=True)
class CellMeasurement:
    """Everything that was measured for one cell.

    start_ns: time from the start of the first process until all children were ready
    windows: the times in which answers counted: from the release to the last answer, or the slices of the arm
    clients, services: the checked results of the children
    collected: the garbage collections of each service
    waits: waits for a core by service or client, and stolen time (lab.run.core_waits)
    ended: what happened on each host meanwhile
    """

    start_ns: int
    windows: Sequence[TimeWindow]
    clients: list[dict[str, Any]]
    services: list[dict[str, Any]]
    collected: list[ServicePauses]
    waits: Mapping[str, CumulativeTime]
    ended: HostActivity
    faults: list[Message]
    turns: dict[str, int]


def result_fields(observed: CellMeasurement) -> dict[str, Any]:
    """Return the fields of CellResult: counts, histograms, status and reason."""
    clients, errors = observed.clients, Counter[str]()
    for client in clients:
        errors.update(client["errors"])
    counts = {
        "requests": sum(client["requests"] for client in clients),
        "answered": sum(client["answered"] for client in clients),
        "wrong": sum(client["wrong"] for client in clients),
        "errors": dict(errors),
    }
    first_wrong: dict[str, str] = next((client["first_wrong"] for client in clients if client.get("first_wrong")), {})
    status, reason = _judged(counts, observed.faults, first_wrong, idle=not clients)
    histograms = {name: merge(Histogram, (client[name] for client in clients if name in client)) for name in HISTOGRAMS}
    slow = [client.get(SLOW) for client in clients]
    return {
        **counts,
        "start_ns": observed.start_ns,
        **_machines(observed.ended),
        "status": status,
        "reason": reason,
        **histograms,
        "slow": slow_requests(slow, observed.collected, observed.waits, histograms["latency"], observed.windows),
        "slices": _sliced([client.get(SLICES) for client in clients], observed.windows[0]),
        "turns": observed.turns,
        "wall_ns": sum(window.end_ns - window.start_ns for window in observed.windows),
        "calc_ns": sum(client.get("calc_ns", 0) for client in clients),
        "clients": [
            {"client_id": number, **{name: client[name] for name in client if name not in PER_CELL}}
            for number, client in enumerate(clients)
        ],
        "services": [
            {"service_id": number, **service, **({"pauses": dict(collected.summary)} if collected.summary else {})}
            for number, (service, collected) in enumerate(zip(observed.services, observed.collected, strict=True))
        ],
    }


def _machines(ended: HostActivity) -> dict[str, Any]:
    """Return the fields on each machine's activity in the timed window, and on disturbances of the measurement."""
    disturbed = {name: doctor.disturbances(window) for name, window in ended.machines.items()}
    here = ended.machines.get(HERE, {})
    return {
        "machine": {name: value for name, value in here.items() if name != OTHERS},
        "others": {name: window[OTHERS] for name, window in ended.machines.items() if window[OTHERS]},
        "hosts": {
            name: {**host, "disturbances": [one.to_json() for one in disturbed.get(name, ())]}
            for name, host in ended.hosts.items()
        },
        "disturbances": [
            message("host {host}: {disturbance}", code=one.code, host=name, disturbance=one) if name else one
            for name, of_one in disturbed.items()
            for one in of_one
        ],
    }


def _judged(
    counts: Mapping[str, Any], invalid: list[Message], first_wrong: Mapping[str, str], *, idle: bool
) -> tuple[Status, Message]:
    faults, requests, unanswered = [], counts["requests"], counts["requests"] - counts["answered"]
    if unanswered:
        faults.append(
            plural(
                "{count} of {requests} requests was not answered",
                "{count} of {requests} requests were not answered",
                count=unanswered,
                requests=requests,
            )
        )
    if not requests and not idle:
        faults.append(message("no request was sent"))
    if counts["wrong"]:
        faults.append(plural("{count} answer was wrong", "{count} answers were wrong", count=counts["wrong"]))
    if counts["errors"]:
        errors = listed(f"{number} x {code}" for code, number in sorted(counts["errors"].items()))
        faults.append(message("errors: {errors}", errors=errors))
    if first_wrong:
        faults.append(message("the first wrong answer to {request} was {got}, expected {expected}", **first_wrong))
    if faults:
        return "failed", chained(faults)
    return ("invalid", chained(invalid)) if invalid else ("ok", NOTHING)


def _sliced(said: Sequence[Mapping[str, Any] | None], window: TimeWindow) -> dict[str, Any]:
    """Return the number of answers by time since the window's start; {} if a client does not report it."""
    if not said or not all(said):
        return {}
    sliced = merge(Slices, said)
    return {**sliced, "start_ns": sliced["start_ns"] - window.start_ns}
