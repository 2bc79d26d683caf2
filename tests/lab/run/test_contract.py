"""What children must say; tests/lab/run/test_measure.py has the same with processes."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from core.errors import ChildFailed
from core.histogram import Histogram
from lab.run.children import Child
from lab.run.contract import (
    addresses,
    check_runtime,
    check_slices,
    check_sums,
    check_window,
    client_results,
    service_results,
)
from lab.run.inside import Window
from lab.run.kinds import CLIENT_KINDS, SERVICE_KINDS
from lab.run.runtimes import Runtime
from tests.lab.scripted_children import latency

HERE = SimpleNamespace(version=lambda runtime: runtime.version)
CHILD = cast(Child, SimpleNamespace(label="Client 1 of 2 (3.14t, pid 812)", program={}, place=HERE))
RUNTIME = cast(Runtime, SimpleNamespace(version="3.14.2"))
GIL = {"gil_enabled_ready": False, "gil_enabled_end": False}


def client(**other: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("finished_ns", "completion_ns", "requests", "answered", "wrong"), 1)
    latency = Histogram()
    latency.record(1)
    return {"result": {**counts, "errors": {}, "latency": latency.to_json(), **GIL, **other}}


def complaint(line: dict[str, Any]) -> str:
    with pytest.raises(ChildFailed) as caught:
        client_results([line], [CHILD])
    said = str(caught.value)
    assert said.startswith(str(CHILD.label))
    return said.removeprefix(str(CHILD.label))


def test_a_whole_result_is_taken_with_whatever_else_it_says() -> None:
    assert client_results([client(calc_ns=5, mine="too")], [CHILD]) == [client(calc_ns=5, mine="too")["result"]]


@pytest.mark.parametrize("names", [["wrong", "errors"], *([name] for name in CLIENT_KINDS)], ids=", ".join)
def test_all_that_is_missing_is_named(names: list[str]) -> None:
    line = client()
    for name in names:
        del line["result"][name]
    assert complaint(line) == f" did not send {', '.join(names)}, which the child contract requires."


@pytest.mark.parametrize("name", ["answered", "completion_ns"])
@pytest.mark.parametrize("value", [True, 1.0, "1", None])
def test_a_number_is_a_whole_number_and_nothing_like_it(name: str, value: object) -> None:
    assert complaint(client(**{name: value})).startswith(
        f" sent {value!r} as {name}; the child contract requires a whole number from "
    )


def test_a_gil_state_is_true_or_false() -> None:
    assert (
        complaint(client(gil_enabled_end=0)) == " sent 0 as gil_enabled_end; the child contract requires true or false."
    )


@pytest.mark.parametrize("errors", [{"503": "2"}, {"503": True}, {"503": -1}])
def test_errors_are_numbers_by_code(errors: dict[Any, Any]) -> None:
    assert complaint(client(errors=errors)).endswith("requires an object of whole numbers by code, none below 0.")


@pytest.mark.parametrize("name", ["latency", "connect", "waiting"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"count": 1},
        {"histogram": {"sub_bits": 99, "total_ns": 5, "counts": {"5": 1}}},
        {"histogram": {"sub_bits": 7, "total_ns": 5, "counts": {"five": 1}}},
        {"histogram": {"sub_bits": 7, "total_ns": 5, "counts": {"99999999": 1}}},
    ],
    ids=str,
)
def test_what_is_no_histogram_is_refused_wherever_it_may_stand(name: str, wrong: dict[str, Any]) -> None:
    whole = {} if "count" in wrong else latency(5)
    assert f" sent {name} that is not a histogram: " in complaint(client(**{name: {**whole, **wrong}}))


def test_a_client_without_errors_has_a_time_for_each_answer() -> None:
    none = Histogram().to_json()
    assert complaint(client(latency=none)) == (
        " sent 0 as latency.count; the child contract requires a time for each of its 1 answers."
    )
    client_results([client(latency=none, errors={"timeout": 1}), client(latency=none, said={})], [CHILD, CHILD])


@pytest.mark.parametrize(
    ("counts", "complained"),
    [
        ({"answered": 2}, " sent 2 as answered; the child contract requires at most its 1 requests."),
        ({"wrong": 2}, " sent 2 as wrong; the child contract requires at most its 1 answers."),
    ],
)
def test_a_client_has_no_more_answers_than_requests(counts: dict[str, int], complained: str) -> None:
    assert complaint(client(**counts)) == complained


@pytest.mark.parametrize("times", [{"finished_ns": 10}, {"finished_ns": 10**9}, {"completion_ns": 10**9}])
def test_a_client_ends_between_its_release_and_its_last_line(times: dict[str, int]) -> None:
    result = {"finished_ns": 20, "completion_ns": 5}
    check_window([CHILD], [result], [Window(start_ns=10, end_ns=30)])
    ((key, value),) = times.items()
    with pytest.raises(ChildFailed, match=f"sent {value} as {key}; .* a whole number from "):
        check_window([CHILD], [result | times], [Window(start_ns=10, end_ns=30)])


def test_services_answered_what_clients_were_answered() -> None:
    two = {"answered": 2, "requests": 2, "wrong": 0, "errors": {}}
    for services in ([{"requests": 1}, {"requests": 1}], [{"requests": 0, "counted": False}]):
        check_sums([two], services)
    check_sums([{**two, "errors": {"timeout": 1}}], [{"requests": 5}])
    check_sums([{**two, "wrong": 1}], [{"requests": 0}])
    check_sums([{**two, "said": {}}], [{"requests": 3}])
    for requests in (1, 3):
        with pytest.raises(ChildFailed, match=f"answered {requests} requests; clients say that they had 2 answers"):
            check_sums([two], [{"requests": requests}])


def test_what_the_orchestrator_itself_says_of_a_child_no_child_says() -> None:
    line = client(client_id=7, service_id=8, program={"program": "x"})
    assert client_results([line], [CHILD]) == [client()["result"]]


def test_a_service_says_its_requests_and_its_gil() -> None:
    result = {"requests": 3, **GIL}
    assert service_results([{"result": result}], [CHILD]) == [result]
    for name in SERVICE_KINDS:
        with pytest.raises(ChildFailed, match=f"did not send {name}"):
            service_results([{"result": {key: value for key, value in result.items() if key != name}}], [CHILD])


def test_a_last_line_without_a_result_is_refused() -> None:
    with pytest.raises(ChildFailed, match="did not send result"):
        service_results([{"ready": True}], [CHILD])


def test_addresses_are_a_list() -> None:
    assert addresses({"ready": True, "addresses": ["/a", "/b"]}, CHILD) == ["/a", "/b"]
    with pytest.raises(ChildFailed, match="sent '/a' as addresses; the child contract requires a list of addresses"):
        addresses({"addresses": "/a"}, CHILD)


@pytest.mark.parametrize("runtime", [{"implementation": "cpython", "version": "3.14.2"}, {"version": "1.23"}, {}])
def test_a_child_of_the_right_version_or_of_another_language_is_taken(runtime: dict[str, str]) -> None:
    check_runtime(RUNTIME, [CHILD], [{"runtime": runtime}])


def test_a_child_under_another_python_is_refused() -> None:
    line = {"runtime": {"implementation": "cpython", "version": "3.12.0"}}
    with pytest.raises(ChildFailed, match=r"runs under version 3\.12\.0; 3\.14\.2 was expected"):
        check_runtime(RUNTIME, [CHILD], [line])


def test_what_a_native_child_says_it_is_goes_into_its_result() -> None:
    native = cast(Runtime, SimpleNamespace(version=""))
    child = cast(Child, SimpleNamespace(label="Service 1 of 1 (native, pid 7)", program={}, place=HERE))
    said = {"program": "echo-libuv", "version": "0.1.0", "compiler": "GCC 12.2.0", "packages": {"libuv": "1.44.2"}}
    check_runtime(native, [child], [{"runtime": {**said, "gil_enabled": False}}])
    (result,) = service_results([{"result": {"requests": 3, **GIL}}], [child])
    assert result == {"requests": 3, **GIL, "program": said}


def test_a_native_child_may_say_less_of_itself_but_nothing_of_another_type() -> None:
    native = cast(Runtime, SimpleNamespace(version=""))
    child = cast(Child, SimpleNamespace(label="Service 1 of 1 (native, pid 7)", program={}, place=HERE))
    check_runtime(native, [child], [{"runtime": {}}])
    assert child.program == {}
    check_runtime(native, [child], [{"runtime": {"program": "mine"}}])
    assert child.program == {"program": "mine"}
    with pytest.raises(ChildFailed, match="sent 3 as version; the child contract requires text"):
        check_runtime(native, [child], [{"runtime": {"program": "mine", "version": 3}}])


@pytest.mark.parametrize(
    "slices",
    [
        {"width_ns": 50_000_000, "start_ns": 899_999_999, "counts": [1]},  # before the window
        {"width_ns": 50_000_000, "start_ns": 1_000_000_000, "counts": [1, *[0] * 40]},  # after it
        {"width_ns": 50_000_000, "start_ns": 1_000_000_000, "counts": [2]},  # more than it had
    ],
)
def test_answers_by_time_are_those_of_the_window(slices: dict[str, Any]) -> None:
    right = client(slices={"width_ns": 50_000_000, "start_ns": 950_000_000, "counts": [0, 1]})
    check_slices([CHILD], client_results([right], [CHILD]), [Window(start_ns=10**9, end_ns=2 * 10**9)])
    with pytest.raises(ChildFailed, match="at most 1 answers in slices from 950000000 to 2010000000"):
        check_slices(
            [CHILD], client_results([client(slices=slices)], [CHILD]), [Window(start_ns=10**9, end_ns=2 * 10**9)]
        )


@pytest.mark.parametrize(
    "slices",
    [
        {"width_ns": 0, "start_ns": 0, "counts": [1]},
        {"width_ns": 50_000_000, "start_ns": 0, "counts": []},
        {"width_ns": 50_000_000, "start_ns": 0, "counts": [1] * 5000},
        {"width_ns": 50_000_000, "counts": [1]},
    ],
)
def test_answers_by_time_are_bounded(slices: dict[str, Any]) -> None:
    assert "requires an object of width_ns, start_ns and at most 4096 counts" in complaint(client(slices=slices))
