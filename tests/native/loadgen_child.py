"""loadgen as a client of the child contract, spoken to by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core.method import Method
from tests.contract.speaking import Spoken
from tests.native.loadgen_peers import counted, says
from tests.native.programs import program_or_skip

RIGHT = says(counted(200, "50"))
FRAMED = ("--protocol", "framed")


def told(addresses: list[list[str]], *, method: Method = Method(), **params: Any) -> dict[str, Any]:  # noqa: B008
    """What a client is told: 20 requests for a count of 50, but for *params*."""
    named = {"cell_id": "a-test", "system": "2", "runtime": "native"}
    asked = {"CALC_TARGET": 50, "NUM_REQUESTS_PER_CLIENT": 20, "NUM_THREADS_PER_CLIENT": 2, **params}
    place = {"client_id": 0, "addresses": addresses, "method": method.to_json(), "cpus": []}
    return {**named, "params": asked, **place}


@contextmanager
def a_client(cell: dict[str, Any], *flags: str) -> Iterator[Spoken]:
    """A client that has said that it is ready."""
    with Spoken([program_or_skip("loadgen"), "--report", "child", *flags]) as client:
        client.tell(cell)
        ready = client.line()
        assert ready.pop("runtime")["program"] == "loadgen"
        assert ready == {"ready": True, "pid": client.process.pid, "addresses": []}
        yield client


def released(client: Spoken) -> dict[str, Any]:
    """Its result after `go`; it stays until the end of its stdin, and then exits with 0."""
    client.tell("go")
    result: dict[str, Any] = client.line()["result"]
    assert client.end() == (0, b"", "")
    return result


def asked(cell: dict[str, Any], *flags: str) -> dict[str, Any]:
    """The result of a client that does not warm up."""
    with a_client(cell, *flags) as client:
        return released(client)
