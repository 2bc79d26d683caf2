"""Combine the results of a cell's child processes into the fields of the cell's result."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.histogram import Histogram
from core.messages import NOTHING, Message, chained, listed, message, plural
from core.result import Status
from core.slices import Slices
from lab.machine import doctor
from lab.run.contract import HISTOGRAMS, SLICES, SLOW
from lab.run.instrumentation import TimeWindow
from lab.run.places import HERE, HostActivity
from lab.run.turns import merge

OTHERS = "others"
PER_CELL = (*HISTOGRAMS, SLOW, SLICES)  # keys of clients that are stored once per cell


def client_fields(
    clients: Sequence[Mapping[str, Any]], faults: list[Message], windows: Sequence[TimeWindow]
) -> dict[str, Any]:
    """Return the fields of CellResult that come from the clients: counts, histograms, status and reason.

    clients: the checked results of the clients
    windows: the times in which answers counted: from the release to the last answer, or the slices of the arm
    beside: CPU time of what runs beside the services, by its name
    """
    counts = {key: sum(client[key] for client in clients) for key in ("requests", "answered", "wrong")}
    counts["errors"] = dict(sum((Counter(client["errors"]) for client in clients), Counter()))
    first_wrong: dict[str, str] = next((client["first_wrong"] for client in clients if client.get("first_wrong")), {})
    status, reason = _judged(counts, faults, first_wrong, idle=not clients)
    histograms = {name: merge(Histogram, (client[name] for client in clients if name in client)) for name in HISTOGRAMS}
    return {
        **counts,
        "status": status,
        "reason": reason,
        **histograms,
        "slices": _sliced([client.get(SLICES) for client in clients], windows[0]),
        "wall_ns": sum(window.end_ns - window.start_ns for window in windows),
        "calc_ns": sum(client.get("calc_ns", 0) for client in clients),
        "clients": [
            {"client_id": number, **{name: client[name] for name in client if name not in PER_CELL}}
            for number, client in enumerate(clients)
        ],
    }


def machine_fields(ended: HostActivity) -> dict[str, Any]:
    """Return the fields of CellResult that describe the machines' activity in the timed window, and disturbances."""
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
    """Return how many answers arrived in each interval of the timed window; {} if a client does not report this."""
    if not said or not all(said):
        return {}
    sliced = merge(Slices, said)
    return {**sliced, "start_ns": sliced["start_ns"] - window.start_ns}
