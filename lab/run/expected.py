"""Which answers are right, learned from a service that one client asks, one request after another, under each arm."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from config.plan import Entry
from core.errors import GilscopeError
from core.request_plan import RequestPlan
from core.stress import Check
from core.system import System
from lab.places import REPOSITORY
from lab.run.children import Children
from lab.run.measure import Bench, start_services
from lab.user_service.answers import Answer, asked, learned


def expecting(
    system: System, entries: Sequence[Entry], bench: Bench, deadline_s: float
) -> tuple[System, Mapping[str, Check]]:
    """*system*, a user's service, whose requests expect what they were answered, and by what each is judged.

    entries: one of each arm; what differs between arms, or between two starts, is expected of none
    """
    own = system.told["own"]
    plan = RequestPlan.from_json(own["requests"])
    starts = [_answers(entry, bench, deadline_s) for entry in entries]
    pairs = [
        learned(request, [answer for start in starts if start for answer in start[number]])
        for number, request in enumerate(plan.requests)
    ]
    requests = replace(plan, requests=tuple(request for request, _ in pairs), think_time_s=0.0, rate=0)
    told: dict[str, Any] = {**system.told, "own": {**own, "requests": requests.to_json()}}
    return replace(system, told=told), {str(request): check for request, check in pairs}


def _answers(entry: Entry, bench: Bench, deadline_s: float) -> list[list[Answer]]:
    """Of each request; nothing where the service does not start, which the first round under that arm will say."""
    try:
        with Children(bench.sandbox, str(REPOSITORY)) as children:
            addresses = start_services(entry.cell, entry.system, children, bench)
            return asked(entry.system.told["own"], addresses[0][0], deadline_s)
    except GilscopeError:
        return []
