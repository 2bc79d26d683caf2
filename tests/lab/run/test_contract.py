"""What children must say; tests/lab/run/test_measure.py has the same with processes."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from core.cell import Cell
from core.errors import ChildFailed
from core.histogram import Histogram
from lab.run.children import Child
from lab.run.contract import (
    CLIENT_MUST,
    SERVICE_MUST,
    addresses,
    check_load,
    check_runtime,
    check_times,
    take_client_result,
    take_service_result,
)
from lab.run.instrumentation import TimeWindow
from lab.run.runtimes import Runtime
from systems import find
from tests.lab.scripted_children import GIL_OFF, latency

HERE = SimpleNamespace(version=lambda runtime: runtime.version)
CELL = cast(Cell, SimpleNamespace(rate=1, num_clients=0, reads=(), num_connections_per_client=1))
RUNTIME = cast(Runtime, SimpleNamespace(version="3.14.2"))


class Said:
    """A child without a process."""

    def __init__(self, **given: Any) -> None:
        vars(self).update(given)


def child(**result: Any) -> Child:
    label = "Client 1 of 2 (3.14t, pid 812)"
    return cast(Child, Said(label=label, noted={}, place=HERE, result=result, notices=list))


CHILD = child()


def client(**other: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("finished_ns", "completion_ns", "requests", "answered", "wrong"), 1)
    return {"result": {**counts, "errors": {}, "latency": latency(1), **GIL_OFF, **other}}


def complaint(line: dict[str, Any]) -> str:
    with pytest.raises(ChildFailed) as caught:
        take_client_result(CHILD, line)
    said = str(caught.value)
    assert said.startswith(str(CHILD.label))
    return said.removeprefix(str(CHILD.label))


def test_a_whole_result_is_taken_but_for_what_the_orchestrator_says() -> None:
    line = client(calc_ns=5, client_id=7, service_id=8, program={"program": "x"})
    take_client_result(CHILD, line)
    assert CHILD.result == client(calc_ns=5)["result"]
    assert "sent 17 as result" in complaint({"result": 17})


@pytest.mark.parametrize("names", [["wrong", "errors"], *([name] for name in CLIENT_MUST)], ids=", ".join)
def test_all_that_is_missing_is_named(names: list[str]) -> None:
    line = client()
    for name in names:
        del line["result"][name]
    assert f"did not send {', '.join(names)}, " in complaint(line)


@pytest.mark.parametrize(
    ("said", "complained"),
    [
        *(({"answered": value}, f"{value!r} as answered") for value in (True, 1.0, "1", None)),
        ({"completion_ns": 1.0}, "1.0 as completion_ns"),
        ({"gil_enabled_end": 0}, "0 as gil_enabled_end"),
        *(({"errors": {"503": value}}, f"{{'503': {value!r}}} as errors") for value in ("2", True, -1)),
        ({"mine": 3}, "3 as mine, but docs/child-contract.md requires a known key"),
        ({"gil_enabled_end": None}, "None as gil_enabled_end"),
        ({"latency": Histogram().to_json()}, "0 as latency.count"),  # of 1 answer
        (
            {"answered": 2},
            "2 as answered, but docs/child-contract.md requires a number of answered requests of at most 1, the cl",
        ),
        (
            {"wrong": 2},
            "2 as wrong, but docs/child-contract.md requires a number of wrong answers of at most 1, the total",
        ),
        *(
            ({"slices": {"width_ns": 50_000_000, "start_ns": 0, "counts": [1], key: value}}, "slices")
            for key, value in (("width_ns", 0), ("counts", ()), ("counts", [1] * 5000), ("start_ns", None))
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_name(said: dict[str, Any], complained: str) -> None:
    assert complained in complaint(client(**said))


@pytest.mark.parametrize("name", ["latency", "connect", "waiting"])
@pytest.mark.parametrize(
    "wrong", [{"sub_bits": 99}, {"counts": {"five": 1}}, {"counts": {"99999999": 1}}, {"counts": {}}]
)
def test_what_is_no_histogram_is_refused_wherever_it_may_stand(name: str, wrong: dict[str, Any]) -> None:
    whole = latency(5)
    for said in ({"count": 1}, {**whole, "histogram": {**whole["histogram"], **wrong}}):
        assert f" sent {name}, which is not a valid histogram: " in complaint(client(**{name: said}))


def test_a_client_with_errors_or_with_more_to_say_need_not_have_a_time_for_each_answer() -> None:
    take_client_result(CHILD, client(latency=Histogram().to_json(), errors={"timeout": 1}))
    take_client_result(CHILD, client(latency=Histogram().to_json(), said={}))


@pytest.mark.parametrize(("key", "value"), [("finished_ns", 10), ("finished_ns", 10**9), ("completion_ns", 10**9)])
def test_a_client_ends_between_its_release_and_its_last_line(key: str, value: int) -> None:
    result, window = {"finished_ns": 20, "completion_ns": 5}, TimeWindow(start_ns=10, end_ns=30)
    check_times(child(**result), window, 1)
    with pytest.raises(ChildFailed, match=f"sent {value} as {key}"):
        check_times(child(**result | {key: value}), window, 1)


def test_services_answered_what_clients_were_answered() -> None:
    two = {"answered": 2, "requests": 2, "wrong": 0, "errors": {}}

    def check(client: dict[str, Any], *services: dict[str, Any]) -> None:
        check_load(CELL, find("2"), [child(**client)], [child(**service) for service in services])

    check(two, {"requests": 1}, {"requests": 1})
    check(two, {"requests": 0, "counted": False})
    for more, requests in (({"errors": {"timeout": 1}}, 5), ({"wrong": 1}, 0), ({"said": {}}, 3)):
        check({**two, **more}, {"requests": requests})
    for requests in (1, 3):
        with pytest.raises(ChildFailed, match=f"{requests} answered requests, .* 2 answers"):
            check(two, {"requests": requests})


@pytest.mark.parametrize(
    ("connections", "answered", "idle", "is_named"),
    [
        (1, 4, {}, True),
        (1, 3, {}, False),  # fewer than two for each connection: chance may have left one out
        (0, 9, {}, False),  # fewer connections than services
        (1, 4, {"counted": False}, False),
    ],
)
def test_a_service_that_nobody_asked_is_named_for_another_answers_in_its_place(
    connections: int, answered: int, idle: dict[str, bool], is_named: bool
) -> None:
    reads = ("NUM_CONNECTIONS_PER_CLIENT",)
    cell = cast(Cell, SimpleNamespace(rate=1, num_clients=2, reads=reads, num_connections_per_client=connections))
    clients = [child(answered=count, requests=count, wrong=0, errors={}) for count in (answered, 0)]
    services = [child(requests=answered), child(requests=0, **idle)]
    with pytest.raises(ChildFailed, match=f"the clients received {answered} ans") if is_named else nullcontext():
        check_load(cell, find("2"), clients, services)


@pytest.mark.parametrize("name", SERVICE_MUST)
def test_a_service_says_its_requests_and_its_gil(name: str) -> None:
    result = {"requests": 3, **GIL_OFF}
    take_service_result(CHILD, {"result": {**result}})
    assert CHILD.result == result
    del result[name]
    with pytest.raises(ChildFailed, match=f"did not send {name}"):
        take_service_result(CHILD, {"result": result})


def test_addresses_are_a_list() -> None:
    assert addresses({CHILD: {"addresses": ["/a", "/b"]}}) == [["/a", "/b"]]
    with pytest.raises(ChildFailed, match="sent '/a' as addresses"):
        addresses({CHILD: {"addresses": "/a"}})


def test_a_child_of_the_right_version_or_of_another_language_is_taken() -> None:
    for runtime in ({"implementation": "cpython", "version": "3.14.2"}, {"version": "1.23"}, {}):
        check_runtime(RUNTIME, {CHILD: {"runtime": runtime}})
    with pytest.raises(ChildFailed, match=r"3\.12\.0, but Python 3\.14\.2 was expected"):
        check_runtime(RUNTIME, {CHILD: {"runtime": {"implementation": "cpython", "version": "3.12.0"}}})


def test_what_a_native_child_says_it_is_goes_into_its_result() -> None:
    native = cast(Runtime, SimpleNamespace(version=""))
    service = child()
    check_runtime(native, {service: {"runtime": {}}})
    assert service.noted == {}
    with pytest.raises(ChildFailed, match=r"sent 3 as runtime\.version"):
        check_runtime(native, {service: {"runtime": {"program": "mine", "version": 3}}})
    said = {"program": "echo-libuv", "version": "0.1.0", "compiler": "GCC 12.2.0", "packages": {"libuv": "1.44.2"}}
    check_runtime(native, {service: {"runtime": {**said, "gil_enabled": False}}})
    take_service_result(service, {"result": {"requests": 3, **GIL_OFF}})
    assert service.result == {"requests": 3, **GIL_OFF, "program": said}


@pytest.mark.parametrize(
    ("start_ns", "counts", "is_right"),
    [
        (950_000_000, [0, 1], True),
        (899_999_999, [1], False),  # before the window
        (1_000_000_000, [1, *[0] * 40], False),  # after it
        (1_000_000_000, [2], False),  # more than it had
    ],
)
def test_answers_by_time_are_those_of_the_window(start_ns: int, counts: list[int], is_right: bool) -> None:
    slices = {"width_ns": 50_000_000, "start_ns": start_ns, "counts": counts}
    times = {"finished_ns": 10**9 + 1, "completion_ns": 1}
    take_client_result(CHILD, client(slices=slices, **times))
    with nullcontext() if is_right else pytest.raises(ChildFailed, match="between 950000000 ns and 2010000000 ns"):
        check_times(CHILD, TimeWindow(start_ns=10**9, end_ns=2 * 10**9), 1)
