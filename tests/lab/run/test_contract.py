"""What children must say; tests/lab/run/test_measure.py has the same with processes."""

import json
from contextlib import nullcontext
from typing import Any

import pytest

from core.errors import ChildFailed
from core.histogram import Histogram
from lab.run.contract import (
    CLIENT_MUST,
    SERVICE_MUST,
    check_load,
    check_runtime,
    check_times,
    take_client_result,
    take_service_result,
)
from lab.run.instrumentation import TimeWindow
from record.child_lines import ClientLine, NativeProgram, ServiceLine
from record.decode import decoded
from tests.lab.scripted_children import GIL_OFF, latency


class Standin:
    """An object with these attributes."""

    def __init__(self, **given: Any) -> None:
        vars(self).update(given)


HERE: Any = Standin(version=lambda runtime: runtime.version)
PYTHON: Any = Standin(version="3.14.2")
NATIVE: Any = Standin(version="")


def child() -> Any:
    """A child without a process."""
    label = "Client 1 of 2 (3.14t, pid 812)"
    return Standin(label=label, noted={}, program=None, place=HERE)


CHILD = child()


def line(**counted: Any) -> ClientLine:
    """The decoded result of a client."""
    counts = {"requests": 0, "answered": 0, "wrong": 0, "errors": {}, "completion_ns": 1, "latency": {}}
    return decoded({**counts, **counted}, ClientLine)


def client(**other: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("finished_ns", "completion_ns", "requests", "answered", "wrong"), 1)
    return {"result": {**counts, "errors": {}, "latency": latency(1), **GIL_OFF, **other}}


def complaint(line: dict[str, Any], routes: int = 0) -> str:
    with pytest.raises(ChildFailed) as caught:
        take_client_result(CHILD, line, routes)
    said = str(caught.value)
    assert said.startswith(str(CHILD.label))
    return said.removeprefix(str(CHILD.label))


def test_a_whole_result_is_taken() -> None:
    given = client(calc_ns=5)
    assert take_client_result(CHILD, given) == decoded(given["result"], ClientLine)
    assert "sent 17 as result" in complaint({"result": 17})


@pytest.mark.parametrize("names", ["wrong, errors", *CLIENT_MUST])
def test_all_that_is_missing_is_named(names: str) -> None:
    line = client()
    for name in names.split(", "):
        del line["result"][name]
    assert f"did not send {names}, " in complaint(line)
    if names in SERVICE_MUST:
        with pytest.raises(ChildFailed, match=f"did not send {names}"):
            take_service_result(CHILD, line)


WRONG = """\
{"answered": true} -> True as answered
{"answered": 1.0} -> 1.0 as answered
{"answered": "1"} -> '1' as answered
{"answered": null} -> None as answered
{"answered": 2} -> 2 as answered, but docs/child-contract.md requires a number of answered requests of at most 1, the cl
{"completion_ns": 1.0} -> 1.0 as completion_ns
{"gil_enabled_end": 0} -> 0 as gil_enabled_end
{"gil_enabled_end": null} -> None as gil_enabled_end
{"errors": {"503": "2"}} -> {'503': '2'} as errors
{"errors": {"503": true}} -> {'503': True} as errors
{"errors": {"503": -1}} -> {'503': -1} as errors
{"client_id": 7} -> 7 as client_id, but docs/child-contract.md requires a known key
{"mine": 3} -> 3 as mine, but docs/child-contract.md requires a known key
{"wrong": 2} -> 2 as wrong, but docs/child-contract.md requires a number of wrong answers of at most 1, the total
{"slices": {"width_ns": 0, "start_ns": 0, "counts": [1]}} -> slices
{"slices": {"width_ns": 50000000, "start_ns": 0, "counts": []}} -> slices
{"slices": {"width_ns": 50000000, "start_ns": null, "counts": [1]}} -> slices"""


@pytest.mark.parametrize("line", WRONG.splitlines())
def test_what_cannot_be_is_refused_with_its_name(line: str) -> None:
    said, complained = line.split(" -> ")
    assert complained in complaint(client(**json.loads(said)))


def test_a_latency_for_each_answer_unless_there_are_errors_or_more_to_say_and_not_too_many_slices_are_due() -> None:
    untimed = Histogram().to_json()
    assert "0 as latency.count" in complaint(client(latency=untimed))  # of 1 answer
    take_client_result(CHILD, client(latency=untimed, errors={"timeout": 1}))
    take_client_result(CHILD, client(latency=untimed, said={}))
    slices = {"width_ns": 50_000_000, "start_ns": 0, "counts": [1] * 5000}
    assert "slices" in complaint(client(slices=slices))


@pytest.mark.parametrize("name", ["latency", "connect", "waiting"])
@pytest.mark.parametrize(
    "wrong", [{"sub_bits": 99}, {"counts": {"five": 1}}, {"counts": {"99999999": 1}}, {"counts": {}}]
)
def test_what_is_no_histogram_is_refused_wherever_it_may_stand(name: str, wrong: dict[str, Any]) -> None:
    whole = latency(5)
    for said in ({"count": 1}, {**whole, "histogram": {**whole["histogram"], **wrong}}):
        assert f" as {name}" in complaint(client(**{name: said}))


@pytest.mark.parametrize(("key", "value"), [("finished_ns", 10), ("finished_ns", 10**9), ("completion_ns", 10**9)])
def test_a_client_ends_between_its_release_and_its_last_line(key: str, value: int) -> None:
    result, window = {"finished_ns": 20, "completion_ns": 5}, TimeWindow(start_ns=10, end_ns=30)
    check_times(CHILD, line(**result), window, 1)
    with pytest.raises(ChildFailed, match=f"sent {value} as {key}"):
        check_times(CHILD, line(**result | {key: value}), window, 1)


def test_services_answered_what_clients_were_answered() -> None:
    two = {"answered": 2, "requests": 2, "wrong": 0, "errors": {}}

    def check(client: dict[str, Any], *services: dict[str, Any]) -> None:
        check_load([line(**client)], [ServiceLine(**one) for one in services])

    check(two, {"requests": 1}, {"requests": 1})
    check(two, {"requests": 0, "counted": False})
    for more, requests in (({"errors": {"timeout": 1}}, 5), ({"wrong": 1}, 0), ({"said": {}}, 3)):
        check({**two, **more}, {"requests": requests})
    for requests in (1, 3):
        with pytest.raises(ChildFailed, match=f"{requests} answered requests, .* 2 answers"):
            check(two, {"requests": requests})


def test_a_child_of_the_right_version_or_of_another_language_is_taken_with_what_its_program_says_it_is() -> None:
    service, other = child(), child()
    for runtime in ({"implementation": "cpython", "version": "3.14.2"}, {"version": "1.23"}, {}):
        check_runtime(PYTHON, {other: {"runtime": runtime}})
    assert other.program is None
    said = {"program": "echo-libuv", "version": "0.1.0", "compiler": "GCC 12.2.0", "packages": {"libuv": "1.44.2"}}
    check_runtime(NATIVE, {service: {"runtime": {**said, "gil_enabled": False}}})
    assert service.program == decoded(said, NativeProgram)
    with pytest.raises(ChildFailed, match=r"3\.12\.0, but Python 3\.14\.2 was expected"):
        check_runtime(PYTHON, {service: {"runtime": {"implementation": "cpython", "version": "3.12.0"}}})
    with pytest.raises(ChildFailed, match=r"sent 3 as runtime\.version"):
        check_runtime(NATIVE, {service: {"runtime": {"program": "mine", "version": 3}}})


def test_answers_by_time_are_those_of_the_window() -> None:
    times = {"finished_ns": 10**9 + 1, "completion_ns": 1}
    for start_ns, counts, is_right in (
        (950_000_000, [0, 1], True),
        (899_999_999, [1], False),  # before the window
        (1_000_000_000, [1, *[0] * 40], False),  # after it
        (1_000_000_000, [2], False),  # more than it had
    ):
        slices = {"width_ns": 50_000_000, "start_ns": start_ns, "counts": counts}
        result = take_client_result(CHILD, client(slices=slices, **times))
        with nullcontext() if is_right else pytest.raises(ChildFailed, match="between 950000000 ns and 2010000000 ns"):
            check_times(CHILD, result, TimeWindow(start_ns=10**9, end_ns=2 * 10**9), 1)


def of_route(answered: int, **other: Any) -> dict[str, Any]:
    return {"requests": answered, "answered": answered, "errors": {}, "latency": latency(*[5] * answered), **other}


@pytest.mark.parametrize(
    ("routes", "complained"),
    [
        (None, "did not send routes, "),
        ([of_route(2)], "requires one object for each of the 2 routes"),
        ([of_route(1), of_route(2)], "sent 3 as routes: requests, but docs/child-contract.md requires a sum of 2"),
        ([of_route(1), of_route(0, requests=1)], "1 as routes: answered"),
        ([of_route(1), of_route(1, errors={"closed": 1})], "{'closed': 1} as routes: errors"),
        ([of_route(1), of_route(1, latency=latency(6))], "11 as routes: latency.histogram.total_ns"),
        (
            [of_route(1), of_route(1, latency={"count": 1})],
            "as routes[1].latency, but docs/child-contract.md requires a valid histogram",
        ),
        ([of_route(1), of_route(1, mine=1)], "1 as routes[1].mine"),
    ],
)
def test_routes_add_up_to_what_the_client_counts(routes: list[Any] | None, complained: str) -> None:
    told = {} if routes is None else {"routes": routes}
    assert complained in complaint(client(requests=2, answered=2, latency=latency(5, 5), **told), 2)


def test_requests_that_were_not_sent_after_errors_belong_to_no_route() -> None:
    routes = [of_route(1), of_route(0, requests=1, errors={"closed": 1})]
    take_client_result(CHILD, client(requests=9, errors={"closed": 1}, latency=latency(5), routes=routes), 2)
    assert "routes" in complaint(client(routes=routes))  # of a plan without routes
