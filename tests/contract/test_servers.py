"""The command line of each server (--app, --server): started, asked, and ended with all its processes."""

from pathlib import Path
from typing import Any

import pytest

from analysis.confounds import measured_shape
from config.user_service.service import ASGI
from core.runtime import RuntimeName
from record.saved_run import CellResult
from tests.conftest import runtime_or_skip
from tests.contract.own_services import Measured
from tests.contract.packages import not_installed
from tests.contract.runs import NEEDS_LINUX
from tests.contract.serving import check_ok
from tests.tables import table

pytestmark = NEEDS_LINUX

APPS = """
BODY = b'{"id": 3}'
HEADERS = [("Content-Type", "application/json"), ("Content-Length", str(len(BODY)))]


def over_wsgi(environ, start_response):
    start_response("200 OK", HEADERS)
    return [BODY]


async def over_asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            event = await receive()
            await send({"type": event["type"] + ".complete"})
            if event["type"] == "lifespan.shutdown":
                return
    headers = [(name.lower().encode(), value.encode()) for name, value in HEADERS]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})
"""
SERVED = table(__file__, "servers.yaml")


@pytest.fixture
def folder(short_folder: Path) -> Path:
    """A folder with both applications."""
    (short_folder / "small.py").write_text(APPS)
    return short_folder


def served(own: Measured, runtime: str, server: str, interface: str, topology: str = "", **how: Any) -> CellResult:
    """One small cell of the application on that server. how: of measured()"""
    runtime_or_skip(runtime)
    given = {"app": f"small:over_{interface}", "server": server, "interface": interface}
    given |= {"topology": topology} if topology else {}
    result = own(given, runtime, **how)
    if "could not be installed" in str(result.reason):
        not_installed(str(result.reason))
    return result


def check_all_is_well(result: CellResult) -> None:
    """It is ok, its connections were kept, and the GIL is as it was."""
    check_ok(result)
    connections = result.params["NUM_CONNECTIONS_PER_CLIENT"]
    assert isinstance(connections, int)
    assert result.connect.count <= connections * len(result.services)
    assert all(one.gil_enabled_end is RuntimeName(result.runtime).gil_enabled for one in result.services)


@pytest.mark.parametrize(("name", "app", "workers", "expected"), SERVED["workers"])
def test_each_server_serves_the_application_with_its_workers_and_leaves_the_gil_as_it_is(
    own: Measured, name: str, app: list[str], workers: int, expected: list[int]
) -> None:
    result = served(own, name, *app, NUM_API_SERVICES=workers)
    check_all_is_well(result)
    assert len(result.services) == expected[0]
    assert min(service.processes or 0 for service in result.services) >= expected[1]


@pytest.mark.parametrize(("name", "server", "shape"), SERVED["topologies"])
def test_the_topology_2x1_of_an_asgi_application_runs_as_the_server_offers_it(
    own: Measured, name: str, server: str, shape: list[int]
) -> None:
    loads = {"NUM_CONNECTIONS_PER_CLIENT": 16, "NUM_REQUESTS_PER_CLIENT": 1500}

    result = served(own, name, server, ASGI, topology="2x1", **loads)
    check_all_is_well(result)
    assert ((result.services[0].processes or 0) > 1) is (shape[0] > 1)
    # One process or loop may accept every connection, as may the granian worker that listens when the clients connect.
    assert measured_shape([result]) in {tuple(shape), (1, 1)}


def test_state_of_one_loop_that_another_uses_is_named_as_the_cause(own: Measured, folder: Path) -> None:
    locking = "import asyncio\nlock = asyncio.Lock()\n" + APPS.replace(
        "    headers = [(name", "    async with lock:\n        await asyncio.sleep(0.001)\n    headers = [(name"
    )
    # With a connection for each request, no loop can have them all.
    (folder / "small.py").write_text(locking.replace("HEADERS = [", 'HEADERS = [("Connection", "close"), '))
    loads = {"NUM_CONNECTIONS_PER_CLIENT": 8, "NUM_REQUESTS_PER_CLIENT": 100}
    # On this build workers of granian are threads of one process.
    broken = served(own, "3.14t", "granian", ASGI, topology="2x1", answer_deadline_s=1.0, **loads)
    assert broken.status == "failed"
    assert "is bound to a different event loop" in str(broken.reason)
    assert "Create this state once per loop" in str(broken.reason)
