"""What children must say; tests/lab/run/test_measure.py has the same with processes."""

import json
from contextlib import nullcontext
from typing import Any

import pytest

from core.messages import ChildFailed
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
from tests.tables import each_row


class Standin:
    """An object with these attributes."""

    def __init__(self, **given: Any) -> None:
        vars(self).update(given)


HERE = Standin(version=lambda runtime: runtime.version)
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


@each_row
def test_what_cannot_be_is_refused_with_its_name(line: str) -> None:
    said, complained = line.split(" -> ")
    assert complained in complaint(client(**json.loads(said)))


def test_a_latency_for_each_answer_unless_there_are_errors_or_more_to_say_and_not_too_many_slices_are_due() -> None:
    untimed = latency()
    assert "0 as latency.count" in complaint(client(latency=untimed))  # of 1 answer
    take_client_result(CHILD, client(latency=untimed, errors={"timeout": 1}))
    take_client_result(CHILD, client(latency=untimed, said={}))
    slices = {"width_ns": 50_000_000, "start_ns": 0, "counts": [1] * 5000}
    assert "slices" in complaint(client(slices=slices))


@pytest.mark.parametrize("name", ["latency", "connect", "waiting"])
@each_row
def test_what_is_no_histogram_is_refused_wherever_it_may_stand(name: str, wrong: dict[str, Any]) -> None:
    whole = latency(5)
    for said in ({"count": 1}, {**whole, "histogram": {**whole["histogram"], **wrong}}):
        assert f" as {name}" in complaint(client(**{name: said}))


@each_row
def test_a_client_ends_between_its_release_and_its_last_line(key: str, value: int) -> None:
    result, window = {"finished_ns": 20, "completion_ns": 5}, TimeWindow(start_ns=10, end_ns=30)
    check_times(CHILD, line(**result), window, 1)
    with pytest.raises(ChildFailed, match=f"sent {value} as {key}"):
        check_times(CHILD, line(**result | {key: value}), window, 1)


@each_row
def test_services_answered_what_clients_were_answered(case: str) -> None:
    said, counts, refused = case.split("|")
    client = line(**{"answered": 2, "requests": 2} | json.loads(said))
    services = [ServiceLine(requests=int(count)) for count in counts.split()]
    complained = f"{refused.strip()} answered requests, .* 2 answers"
    with pytest.raises(ChildFailed, match=complained) if refused else nullcontext():
        check_load([client], services)
    check_load([client], [ServiceLine(requests=0, counted=False)])  # of one that does not count


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


@each_row
def test_answers_by_time_are_those_of_the_window(case: str) -> None:
    said, _, judged = case.partition(" -> ")
    start_ns, _, counts = said.partition(" ")
    slices = {"width_ns": 50_000_000, "start_ns": int(start_ns), "counts": json.loads(counts)}
    given = client(slices=slices, finished_ns=10**9 + 1, completion_ns=1)
    complained = "between 950000000 ns and 2010000000 ns"
    with nullcontext() if judged == "right" else pytest.raises(ChildFailed, match=complained):
        check_times(CHILD, take_client_result(CHILD, given), TimeWindow(start_ns=10**9, end_ns=2 * 10**9), 1)


def of_route(answered: int, **other: Any) -> dict[str, Any]:
    return {"requests": answered, "answered": answered, "errors": {}, "latency": latency(*[5] * answered), **other}


@each_row
def test_routes_add_up_to_what_the_client_counts(case: str) -> None:
    said, complained = case.split(" -> ")
    routes = json.loads(said.replace("[6]", json.dumps(latency(6))))
    told = {} if routes is None else {"routes": [of_route(answered, **more) for answered, more in routes]}
    assert complained in complaint(client(requests=2, answered=2, latency=latency(5, 5), **told), 2)


def test_requests_that_were_not_sent_after_errors_belong_to_no_route() -> None:
    routes = [of_route(1), of_route(0, requests=1, errors={"closed": 1})]
    take_client_result(CHILD, client(requests=9, errors={"closed": 1}, latency=latency(5), routes=routes), 2)
    assert "routes" in complaint(client(routes=routes))  # of a plan without routes
