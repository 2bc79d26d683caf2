"""Run stress rounds: start a new service under each arm in turn, and send bursts of requests until
time is up.

core/inside/hang_stacks.py runs inside the service. Clients, sandbox and child contract are those of
every cell. The right answers of a user's service are found first: one client sends the service's
requests one by one, under each arm.

commands/stress.py calls carry_out(), which adds to its Stress object (core/stress_results.py). A
round is one measurement of a cell (lab/run/measure.py) with other settings in a copy of the bench.
"""

import hashlib
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial, reduce
from itertools import chain, cycle
from pathlib import Path
from time import monotonic
from typing import Any

from msgspec.structs import asdict

from clients.channel import CallFailed
from clients.user_service import connector, prepare
from config.run_plan import Entry
from core.child import TIMEOUT
from core.inside.hang_stacks import CRASH, HANG, STACKS_SIGNAL
from core.messages import GilscopeError, Json
from core.method import Warmup
from core.processtree import descendants
from core.request_plan import ANY, Request
from core.secret import Redactor
from core.stress_results import Check, Round, Stress
from lab.run.cell_processes import NOT_READY, Bench, CellProcesses, redactor_of, requests_of
from lab.run.instrumentation import Instrumentation, TimeWindow
from lab.run.measure import measure

# for sys.setswitchinterval() in the services (default 0.005 s), because more switches provoke races
SWITCH_INTERVAL_S = 1e-6
LONGEST_ROUND_S = 3.0  # how long the clients send in a round
ROUNDS = 6  # the least number of rounds of all arms together, if services start at once
LATE_S = 5.0  # an answer is late this long after its round, and given up after twice this time
# how a thread's stack begins in faulthandler's output
_THREAD = re.compile("(Current thread|Thread) 0x")
MOST_TRACES = 4  # of a kind (crash or hang) in a round
LONGEST_FILE = 1 << 20  # bytes, enough for the stacks of a thousand threads
LONGEST_TRACE = 16_384  # characters of a trace, after equal stacks were merged
TIMES = 3  # how often each request is sent to one started service, to learn the expected answer
_CHANGES = object()  # marks a value that is not the same in all answers

Answer = tuple[int, bytes]  # status and body


def carry_out(
    entries: Sequence[Entry], bench: Bench, stress: Stress, keep: Callable[[], None]
) -> None:
    """Run stress rounds, one for each of *entries* in turn, until the stress test has lasted
    stress.seconds. Add the rounds, the time and the checks to *stress*.

    Each entry has at least one round, also if the time is up before.
    keep: is called after each round, to save the rounds
    """
    start_s, round_s = monotonic(), min(LONGEST_ROUND_S, stress.seconds / ROUNDS)
    entries = _prepared(entries, bench, stress, round_s + 2 * LATE_S)
    for number, entry in enumerate(cycle(entries)):
        if number >= len(entries) and stress.spent_s >= stress.seconds:
            break
        stress.rounds.append(_round(entry, number, bench, round_s, stress.switch_interval_s))
        stress.spent_s = monotonic() - start_s
        keep()


def _prepared(
    entries: Sequence[Entry], bench: Bench, stress: Stress, deadline_s: float
) -> list[Entry]:
    """Return the planned measurements. Users' services get the settings of a stress test, and
    expected answers. For these, start the service under each arm, and set stress.checks.

    Clients call a user's service in bursts, and wait for each answer until *deadline_s*.
    """
    system = entries[0].system
    if not system.user_service:
        return [*entries]
    first = {entry.arm: entry for entry in reversed(entries)}  # the first entry of each arm
    requests, stress.checks = learn_expected_answers([*first.values()], bench, deadline_s)
    how = {"requests": requests, "bursts": True, "answer_deadline_s": deadline_s}
    system = replace(system, child_config={"own": {**system.child_config["own"], **how}})
    return [replace(entry, system=system) for entry in entries]


def _round(
    entry: Entry, number: int, bench: Bench, round_s: float, switch_interval_s: float
) -> Round:
    # one round, as a measurement in block *number*
    redactor = redactor_of(entry.system)
    method = replace(bench.method, warmup=Warmup(), duration_s=round_s)
    parts: dict[str, Json] = {"hang_stacks": {"switch_interval_s": switch_interval_s}}
    traces: dict[str, tuple[str, ...]] = {}

    def keep_traces(instruments: Sequence[Instrumentation], _: TimeWindow) -> None:
        traces.update({name: _texts(instruments, name, redactor) for name in (CRASH, HANG)})

    watch = partial(_stacks_when_late, bench.sandbox.folder, round_s + LATE_S)
    bench = replace(bench, method=method, inside=parts, after=keep_traces, watch=watch)
    result = measure(entry.cell, entry.system, number, bench)
    noticed = [service.notices for service in result.services]
    crashes, is_ready = traces[CRASH], result.reason.code != NOT_READY
    # An answer missed its deadline, or no client has a result, although the service was ready and
    # did not crash.
    is_hung = TIMEOUT in result.errors or (not result.clients and not crashes and is_ready)
    statuses = {code: count for code, count in result.errors.items() if code.isdigit()}
    firsts = [asdict(client.first_wrong) for client in result.clients if client.first_wrong]
    return Round(
        runtime=result.runtime,
        system=result.system,
        params=result.params,
        gil_enabled=bench.runtimes[result.runtime].name.gil_enabled,
        answered=result.answered,
        wrong=result.wrong + sum(statuses.values()),
        failures={code: count for code, count in result.errors.items() if code not in statuses},
        first_wrong=next(iter(firsts), {}),
        ready=is_ready,
        valid=result.status != "invalid",
        reason=result.reason,
        crashes=crashes,
        stacks=traces[HANG] if is_hung else (),
        notices=tuple(dict.fromkeys(chain.from_iterable(noticed))),
    )


@contextmanager
def _stacks_when_late(folder: Path, late_s: float, _: int) -> Iterator[None]:
    """Make every Python process of a service write its stacks if the `with` block lasts longer than
    *late_s*.
    """
    timer = threading.Timer(late_s, _ask_for_stacks, [folder])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _ask_for_stacks(folder: Path) -> None:
    """Signal the services' Python processes to write their stacks.

    Only descendants of this process are signalled, because the pid of an ended process may belong
    to another by now.
    """
    names = {path.name.partition(".")[0] for path in folder.glob(f"*/{HANG}-*")}
    for pid in descendants(os.getpid()):
        if f"{HANG}-{pid}" in names:
            with suppress(ProcessLookupError):
                os.kill(pid, STACKS_SIGNAL)


def _texts(
    instruments: Sequence[Instrumentation], name: str, redactor: Redactor
) -> tuple[str, ...]:
    """Return the stack traces that the instrumentation *name* wrote to files, shortened and without
    secrets.
    """
    contents = [
        content
        for inside in instruments
        for content in inside.files(name, LONGEST_FILE).values()
        if content
    ]
    texts = [group_stacks(content.decode(errors="replace")) for content in contents[:MOST_TRACES]]
    return tuple(redactor.text(text[:LONGEST_TRACE]) for text in texts)


def group_stacks(trace: str) -> str:
    """Merge equal stacks of a faulthandler trace, and add their numbers of threads. The most
    frequent comes first.
    """
    blocks = trace.strip().split("\n\n")
    stacks = Counter(block.partition("\n")[2] for block in blocks if _THREAD.match(block))
    others = [block.strip() for block in blocks if not _THREAD.match(block)]
    counted = [
        f"{count} x Thread (most recent call first):\n{frames}"
        for frames, count in stacks.most_common()
    ]
    return "\n\n".join([*others, *counted])


# ---- expected answers ----------------------------------------------------------------------------


def learn_expected_answers(
    entries: Sequence[Entry], bench: Bench, deadline_s: float
) -> tuple[Json, Mapping[str, Check]]:
    """Return the requests of a user's service with an expected answer in each, as JSON, and how
    each answer is checked.

    The second result is {request: name of the check}, as learn_check() returns it.
    entries: one entry of each arm; parts of an answer that differ between arms or between two
        starts are not expected
    """
    plan = requests_of(entries[0].system)
    answers = [answer for entry in entries for answer in _answers(entry, bench, deadline_s)]
    requests = []
    checks = {}
    for number, request in enumerate(plan.requests):
        learned, check = learn_check(
            request, [answer for place, answer in answers if place == number]
        )
        requests.append(learned)
        checks[str(learned)] = check
    return replace(plan, requests=tuple(requests), think_time_s=0.0).to_json(), checks


def _answers(entry: Entry, bench: Bench, deadline_s: float) -> list[tuple[int, Answer]]:
    """Start the user's service of a plan entry, and send each of its requests TIMES times.

    Return the answers, each with the index of its request. Failed attempts are left out. The list
    is empty if the service does not start. The first round under that arm then reports that the
    service does not start.
    """
    own, answers = entry.system.child_config["own"], []
    with suppress(GilscopeError), CellProcesses(entry, 0, replace(bench, inside={})) as processes:
        address = processes.serve()[0][0]
        connect = connector(own)
        every = prepare(own, requests_of(entry.system), address)
        for number, prepared in enumerate(every):
            for _ in range(TIMES):
                with suppress(CallFailed), closing(connect(address, deadline_s)) as connection:
                    answer = connection.ask(prepared.sent, prepared.request.method)
                    answers.append((number, answer))
    return answers


def learn_check(request: Request, answers: Sequence[Answer]) -> tuple[Request, Check]:
    """Return *request* with the expected answer learned from *answers*, and a word for how answers
    are checked.

    The expected answer is what all answers have in common.
    The second result is one of these words (core.stress_results.Check):
    "declared": the user has declared the expected answer, which stays.
    "body": all answers are equal.
    "common": the answers are JSON objects with some values in common.
    "status": only the status is checked.
    """
    if request.expect_json is not ANY or request.expect_sha256:
        return request, "declared"
    statuses = {status for status, _ in answers}
    if len(statuses) != 1:
        return request, "status"
    with_status, different = (
        replace(request, expect_status=statuses.pop()),
        {body for _, body in answers},
    )
    if len(different) == 1:
        body = different.pop()
        return replace(
            with_status,
            expect_sha256=hashlib.sha256(body).hexdigest(),
            expect_json=_parsed(body, ANY),
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
    """Return the common part of two JSON values: the equal items of objects, or the whole value if
    both are equal. Other values have _CHANGES in common.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = {key: _common(value, other[key]) for key, value in one.items() if key in other}
        return {key: value for key, value in pairs.items() if value is not _CHANGES}
    return one if type(one) is type(other) and one == other else _CHANGES
