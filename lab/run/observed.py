"""What the children of a cell sent, summed up as the cell's result has it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.messages import NOTHING, Message, chained, listed, message, plural
from core.result import Status
from core.slices import Slices
from lab.machine import doctor
from lab.run.contract import HISTOGRAMS, SLICES, SLOW
from lab.run.cores import TimeTaken
from lab.run.inside import Window
from lab.run.pauses import Pauses
from lab.run.places import HERE, Ended
from lab.run.slow import slow_requests
from lab.run.turns import merged

OTHERS = "others"


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What the children of a cell sent. start_ns: spawn to all ready; ended: what each host saw meanwhile.

    windows: the times in which answers counted: from the release to the last answer, or the slices of the arm
    beside: CPU time of what runs beside the services, by its name
    """

    start_ns: int
    windows: Sequence[Window]
    clients: list[dict[str, Any]]
    services: list[dict[str, Any]]
    collected: list[Pauses]
    waits: Mapping[str, TimeTaken]
    ended: Ended
    faults: list[Message]
    turns: dict[str, int]
    beside: Mapping[str, int]


def summed(observed: Observed) -> dict[str, Any]:
    """Counts, histograms, status and reason: fields of CellResult."""
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
    histograms = {name: merged(client[name] for client in clients if name in client) for name in HISTOGRAMS}
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
        "beside": dict(observed.beside),
        "wall_ns": sum(window.end_ns - window.start_ns for window in observed.windows),
        "calc_ns": sum(client.get("calc_ns", 0) for client in clients),
        "clients": [{"client_id": number, **_without_bulk(client)} for number, client in enumerate(clients)],
        "services": [
            {"service_id": number, **service, **({"pauses": dict(collected.summary)} if collected.summary else {})}
            for number, (service, collected) in enumerate(zip(observed.services, observed.collected, strict=True))
        ],
    }


def _machines(ended: Ended) -> dict[str, Any]:
    """What happened on each machine while clients were timed, and what of it disturbed them."""
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
        faults.append(message("first wrong answer, to {request}: {got}; expected {expected}", **first_wrong))
    if faults:
        return "failed", chained(faults)
    return ("invalid", chained(invalid)) if invalid else ("ok", NOTHING)


def _sliced(said: Sequence[Mapping[str, Any] | None], window: Window) -> dict[str, Any]:
    """Answers of all clients by time, from the window's start on; empty where one does not say."""
    if not said or not all(said):
        return {}
    total = Slices()
    for slices in said:
        total.merge(Slices.from_json(slices or {}))
    sliced = total.to_json()
    return {**sliced, "start_ns": sliced["start_ns"] - window.start_ns}


def _without_bulk(client: Mapping[str, Any]) -> dict[str, Any]:
    """Without what the cell has together."""
    return {name: value for name, value in client.items() if name not in (*HISTOGRAMS, SLOW, SLICES)}
