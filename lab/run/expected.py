"""Find the right answers of a user's service: one client sends the service's requests one by one, under each arm."""

import hashlib
import json
import site
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import reduce
from typing import Any

from clients.channel import CallFailed
from clients.user_service.client import Connect, connector, prepare, session_of
from clients.user_service.plan import PreparedRequest
from clients.user_service.session import Session
from config.plan import Entry
from core.errors import GilscopeError
from core.request_plan import ANY, Request, RequestPlan
from core.stress import Check
from lab.environments.environment import site_packages
from lab.run.cell_run import Bench, CellRun
from lab.run.runtimes import orchestrator

TIMES = 3  # how often each request is sent to one started service
_CHANGES = object()

Answer = tuple[int, bytes]


def learn_expected_answers(
    own: Mapping[str, Any], entries: Sequence[Entry], bench: Bench, deadline_s: float
) -> tuple[dict[str, Any], Mapping[str, Check]]:
    """Return the user's service *own* with an expected answer in each request, and how each answer is checked.

    The second result is {request: name of the check}, as learn_check() returns it.
    entries: one entry of each arm; parts of an answer that differ between arms or between two starts are not expected
    """
    plan = RequestPlan.from_json(own["requests"])
    starts = [_answers(entry, bench, deadline_s) for entry in entries]
    has_session = any(one.needs_session for one in prepare(own, plan, ""))
    pairs = [
        learn_check(
            request, [answer for start in starts if start for answer in start[number]], compares_bodies=not has_session
        )
        for number, request in enumerate(plan.requests)
    ]
    requests = replace(plan, requests=tuple(request for request, _ in pairs), think_time_s=0.0, rate=0)
    return {**own, "requests": requests.to_json()}, {str(request): check for request, check in pairs}


def _answers(entry: Entry, bench: Bench, deadline_s: float) -> list[list[Answer]]:
    """Start the service of a plan entry, and return its answers to each request; [] if the service does not start.

    The first round under that arm then reports that the service does not start.
    """
    try:
        if entry.system.requirements:  # of clients, as which this process asks
            python = orchestrator().python(entry.system.requirements)
            for folder in site_packages(python):
                site.addsitedir(str(folder))
        with CellRun(entry, 0, replace(bench, inside={})) as run:
            return ask_service(entry.system.child_config["own"], run.serve()[0][0], deadline_s)
    except GilscopeError:
        return []


def ask_service(own: Mapping[str, Any], address: str, deadline_s: float) -> list[list[Answer]]:
    """Send each request of the user's service *own* to *address* TIMES times. Return the answers to each request.

    Failed attempts are left out.
    """
    connect, session = connector(own), session_of(own, address, 0)
    return [
        [answer for _ in range(TIMES) if (answer := _answer(connect, address, session, request, deadline_s))]
        for request in prepare(own, RequestPlan.from_json(own["requests"]), address)
    ]


def _answer(
    connect: Connect, address: str, session: Session, prepared: PreparedRequest, deadline_s: float
) -> Answer | None:
    try:
        with closing(connect(address, deadline_s)) as connection:
            status, body = connection.ask(prepared.bytes_for(session), prepared.request.method)
            session.take(prepared.request, connection.head, status, body)
            return status, body
    except CallFailed:
        return None


def learn_check(request: Request, answers: Sequence[Answer], *, compares_bodies: bool = True) -> tuple[Request, Check]:
    """Return *request* with the expected answer learned from *answers*, and a word for how answers are checked.

    The expected answer is what all answers have in common.
    compares_bodies: False if each virtual user has a session, and so answers of its own
    The second result is one of these words:
    "declared": the user has declared the expected answer, which stays. "body": all answers are equal. "common": the
    answers are JSON objects with some values in common. "status": only the status is checked.
    """
    if request.expect_json is not ANY or request.expect_sha256:
        return request, "declared"
    statuses = {status for status, _ in answers}
    if len(statuses) != 1:
        return request, "status"
    with_status, different = replace(request, expect_status=statuses.pop()), {body for _, body in answers}
    if not compares_bodies:
        return with_status, "status"
    if len(different) == 1:
        body = different.pop()
        return replace(
            with_status, expect_sha256=hashlib.sha256(body).hexdigest(), expect_json=_parsed(body, ANY)
        ), "body"
    common = reduce(_common, (_parsed(body, _CHANGES) for body in different))
    if not isinstance(common, dict) or not common:
        return with_status, "status"
    return replace(with_status, expect_json=common), "common"


def _parsed(body: bytes, otherwise: Any) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return otherwise


def _common(one: Any, other: Any) -> Any:
    """Return the common part of two JSON values: the equal items of objects, or the whole value if both are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = {key: _common(value, other[key]) for key, value in one.items() if key in other}
        return {key: value for key, value in pairs.items() if value is not _CHANGES}
    return one if type(one) is type(other) and one == other else _CHANGES
