"""The command of a user's own service: where it is to listen, and what it cannot be asked."""

from typing import Any

import pytest

from lab.user_service.command import Endpoint, command_environment, fill_placeholders, last_exception
from lab.user_service.readiness import probe
from tests.native.loadgen_peers import read_http, says, scripted
from tests.native.programs import program_or_skip
from tests.tables import each_row


def asked(protocol: str, **request: Any) -> dict[str, Any]:
    """What a service child is told of one request."""
    plan = {"requests": [{"method": "POST", **request}], "think_time_s": 0.0}
    return {"protocol": protocol, "prefix": "", "requests": plan}


def test_the_users_own_python_path_comes_after_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    told = {"variables": {}, "python": "/usr/bin/python3", "environment": {}}
    assert "PYTHONPATH" not in command_environment(told, {}, {})
    told["environment"] = {"PYTHONPATH": "src:lib"}
    assert command_environment(told, {}, {"PYTHONPATH": "/parts"})["PYTHONPATH"] == "/parts:src:lib"


BUILDS = {
    "3.14.7t": {"PYTHON_GIL", "PYTHON_CPU_COUNT", "SHOP"},
    "3.14.7": {"PYTHON_CPU_COUNT", "SHOP"},
    "3.11.9": {"SHOP"},
}


@pytest.mark.parametrize("label", BUILDS)
def test_a_build_gets_only_the_variables_that_it_knows(label: str) -> None:
    """A default build exits at once with PYTHON_GIL=0."""
    asked = {"PYTHON_GIL": "0", "PYTHON_CPU_COUNT": "2", "SHOP": "1"}
    own = {"variables": {}, "python": "/bin/python", "environment": asked, "expected_python": label}
    assert {*command_environment(own, {}, {})} & {*asked} == BUILDS[label]


def test_a_placeholder_in_an_inserted_value_is_kept() -> None:
    own = {"python": "/opt/{port}/{x}/python", "command": "{python} -p{port} '{socket} {threads}' {other}"}
    endpoint = Endpoint(host="127.0.0.1", port=8000, socket="/tmp/{host}")
    words = fill_placeholders(own, endpoint, {"NUM_WORKERS_PER_API_SERVICE": 4})
    assert words == ["/opt/{port}/{x}/python", "-p8000", "/tmp/{host} 4", "{other}"]


@pytest.mark.parametrize("keep", [True, False])
def test_a_service_that_speaks_another_protocol_is_named_by_its_first_bytes(*, keep: bool) -> None:
    with scripted(says(b"-ERR unknown command\r\n", keep=keep), read_http) as server:
        state = str(probe(asked("http", path="/"), server.address, 5.0))
    assert "it answered `-ERR unknown command\\r\\n`, which is not HTTP" in state
    assert "http and http2" in state


@pytest.mark.parametrize("path", ["/{{user}}", "/{{ random.uuid }}"])
def test_a_service_whose_requests_need_the_native_client_is_asked_by_it(path: str) -> None:
    program_or_skip("loadgen")
    own = asked("http", path=path, save={"id": {"json": "/id"}}, first=True)
    with scripted(says(b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"), read_http) as server:
        assert not probe(own, server.address, 5.0)
    assert server.requests == 1
    with scripted(says(b"-ERR\r\n"), read_http) as server:
        assert "it answered `-ERR\\r\\n`, which is not HTTP" in str(probe(own, server.address, 5.0))


@each_row
def test_the_last_exception_of_an_output_has_its_file_and_line(output: str, said: str) -> None:
    assert last_exception(output) == said
