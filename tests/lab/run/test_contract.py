"""What children must say; tests/lab/run/test_measure.py has the same with processes."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from core.errors import ChildFailed
from core.histogram import Histogram
from lab.run.children import Child
from lab.run.contract import addresses, check_runtime, client_results, service_results
from lab.run.runtimes import Runtime

CHILD = cast(Child, SimpleNamespace(label="Client 1 of 2 (3.14t, pid 812)", program={}))
RUNTIME = cast(Runtime, SimpleNamespace(version="3.14.2"))
GIL = {"gil_enabled_ready": False, "gil_enabled_end": False}


def client(**other: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("finished_ns", "completion_ns", "requests", "answered", "wrong"), 1)
    return {"result": {**counts, "errors": {}, "latency": Histogram().to_json(), **GIL, **other}}


def complaint(line: dict[str, Any]) -> str:
    with pytest.raises(ChildFailed) as caught:
        client_results([line], [CHILD])
    said = str(caught.value)
    assert said.startswith(str(CHILD.label))
    return said.removeprefix(str(CHILD.label))


def test_a_whole_result_is_taken_with_whatever_else_it_says() -> None:
    assert client_results([client(calc_ns=5, mine="too")], [CHILD]) == [client(calc_ns=5, mine="too")["result"]]


def test_all_that_is_missing_is_named() -> None:
    line = client()
    del line["result"]["wrong"], line["result"]["errors"]
    assert complaint(line) == " did not send wrong, errors, which the child contract requires."


@pytest.mark.parametrize("name", ["answered", "completion_ns"])
@pytest.mark.parametrize("value", [True, 1.0, "1", None])
def test_a_number_is_a_whole_number_and_nothing_like_it(name: str, value: object) -> None:
    assert complaint(client(**{name: value})) == f" sent {value!r} as {name}; the child contract requires int."


def test_a_gil_state_is_true_or_false() -> None:
    assert complaint(client(gil_enabled_end=0)) == " sent 0 as gil_enabled_end; the child contract requires bool."


@pytest.mark.parametrize("errors", [{"503": "2"}, {"503": True}, {503: 1}])
def test_errors_are_numbers_by_code(errors: dict[Any, Any]) -> None:
    assert complaint(client(errors=errors)).endswith("the child contract requires a number for each code.")


@pytest.mark.parametrize("name", ["latency", "connect", "waiting"])
def test_what_is_no_histogram_is_refused_wherever_it_may_stand(name: str) -> None:
    assert f" sent {name} that is not a histogram: " in complaint(client(**{name: {"count": 1}}))


def test_a_service_says_its_requests_and_its_gil() -> None:
    result = {"requests": 3, **GIL}
    assert service_results([{"result": result}], [CHILD]) == [result]
    with pytest.raises(ChildFailed, match="did not send requests"):
        service_results([{"result": GIL}], [CHILD])


def test_a_last_line_without_a_result_is_refused() -> None:
    with pytest.raises(ChildFailed, match="did not send result"):
        service_results([{"ready": True}], [CHILD])


def test_addresses_are_a_list() -> None:
    assert addresses({"ready": True, "addresses": ["/a", "/b"]}, CHILD) == ["/a", "/b"]
    with pytest.raises(ChildFailed, match="sent '/a' as addresses; the child contract requires list"):
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
    child = cast(Child, SimpleNamespace(label="Service 1 of 1 (native, pid 7)", program={}))
    said = {"program": "echo-libuv", "version": "0.1.0", "compiler": "GCC 12.2.0", "packages": {"libuv": "1.44.2"}}
    check_runtime(native, [child], [{"runtime": {**said, "gil_enabled": False}}])
    (result,) = service_results([{"result": {"requests": 3, **GIL}}], [child])
    assert result == {"requests": 3, **GIL, "program": said}


def test_a_native_child_may_say_less_of_itself_but_nothing_of_another_type() -> None:
    native = cast(Runtime, SimpleNamespace(version=""))
    child = cast(Child, SimpleNamespace(label="Service 1 of 1 (native, pid 7)", program={}))
    check_runtime(native, [child], [{"runtime": {}}])
    assert child.program == {}
    check_runtime(native, [child], [{"runtime": {"program": "mine"}}])
    assert child.program == {"program": "mine"}
    with pytest.raises(ChildFailed, match="sent 3 as version; the child contract requires str"):
        check_runtime(native, [child], [{"runtime": {"program": "mine", "version": 3}}])
