"""loadgen as a client of the child contract, spoken to by hand."""

from typing import Any

from core.method import Method
from tests.contract.speaking import released, spoken
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


def asked(cell: dict[str, Any], *flags: str) -> dict[str, Any]:
    """The result of a client that does not warm up."""
    with spoken([program_or_skip("loadgen"), "--report", "child", *flags], cell) as (client, _):
        return released(client)
