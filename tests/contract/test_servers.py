"""The command line of each server (--app, --server): started, asked, and ended with all its processes."""

from pathlib import Path
from typing import Any

import pytest

from config.user_service.servers import ASGI, SERVERS, WSGI
from core.result import CellResult
from lab.run.cell_run import Bench
from lab.run.runtimes import Runtime
from reports.facts.topologies import measured_shape
from tests.conftest import runtime_or_skip
from tests.contract.own_services import measured
from tests.contract.packages import not_installed
from tests.contract.serving import check_ok

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux: /proc")

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
EVERY = [(name, interface) for name, one in SERVERS.items() for interface in one.interfaces]
FORKING = [pair for pair in EVERY if "{workers}" in SERVERS[pair[0]].command]


@pytest.fixture
def folder(short_folder: Path) -> Path:
    """A folder with both applications."""
    (short_folder / "small.py").write_text(APPS)
    return short_folder


def served(
    folder: Path, bench: Bench, runtime: Runtime, server: str, interface: str, topology: str = "", **values: Any
) -> CellResult:
    """One small cell of the application on that server."""
    given = {"app": f"small:over_{interface}", "server": server, "interface": interface}
    given |= {"topology": topology} if topology else {}
    result = measured(folder, bench, str(runtime.name), given, **values)
    if "could not be installed" in str(result.reason):
        not_installed(str(result.reason))
    return result


def check_all_is_well(result: CellResult, runtime: Runtime) -> None:
    check_ok(result)
    assert all(one["gil_enabled_end"] is runtime.name.gil_enabled for one in result.services)


@pytest.mark.parametrize(
    ("server", "interface", "name"),
    [
        *((*pair, "3.14t") for pair in EVERY),
        ("gunicorn", WSGI, "3.11"),
        ("uvicorn", ASGI, "3.14"),  # its extras are compiled
        ("uvicorn", ASGI, "3.14t+gil"),
    ],
)
def test_each_server_serves_the_application_and_leaves_the_gil_as_it_is(
    folder: Path, bench: Bench, server: str, interface: str, name: str
) -> None:
    runtime = runtime_or_skip(name)
    result = served(folder, bench, runtime, server, interface)
    check_all_is_well(result, runtime)
    assert result.connect == {} or result.connect["count"] <= 2  # connections are kept


@pytest.mark.parametrize(("server", "interface"), FORKING)
def test_a_server_that_is_told_two_workers_has_them_beside_their_parent(
    any_runtime: Runtime, folder: Path, bench: Bench, server: str, interface: str
) -> None:
    result = served(folder, bench, any_runtime, server, interface, NUM_API_SERVICES=2)
    check_all_is_well(result, any_runtime)
    (service,) = result.services
    assert service["processes"] >= 3  # with one worker it is two at most


def test_one_that_has_no_workers_is_started_twice(any_runtime: Runtime, folder: Path, bench: Bench) -> None:
    result = served(folder, bench, any_runtime, "waitress", WSGI, NUM_API_SERVICES=2)
    check_all_is_well(result, any_runtime)
    assert len(result.services) == 2


@pytest.mark.parametrize(
    ("name", "server", "shape"),
    [
        *(("3.14t", server, shape) for server, interface in EVERY if interface == ASGI for shape in [(2, 1), (1, 2)]),
        ("3.14", "uvicorn", (2, 1)),
        ("3.14", "uvicorn", (1, 2)),
    ],
)
def test_a_topology_of_event_loops_is_what_runs(
    name: str, folder: Path, bench: Bench, server: str, shape: tuple[int, int]
) -> None:
    runtime = runtime_or_skip(name)
    loads = {"NUM_CONNECTIONS_PER_CLIENT": 16, "NUM_REQUESTS_PER_CLIENT": 4000}
    topology = "x".join(map(str, shape))
    result = served(folder, bench, runtime, server, ASGI, topology=topology, **loads)
    check_all_is_well(result, runtime)
    assert measured_shape([result]) in {shape, (1, shape[1])}  # one process may have accepted every connection


def test_state_of_one_loop_that_another_uses_is_named_as_the_cause(
    any_runtime: Runtime, folder: Path, bench: Bench
) -> None:
    locking = "import asyncio\nlock = asyncio.Lock()\n" + APPS.replace(
        "    headers = [(name", "    async with lock:\n        await asyncio.sleep(0.001)\n    headers = [(name"
    )
    (folder / "small.py").write_text(locking)
    loads = {"NUM_CONNECTIONS_PER_CLIENT": 16, "NUM_REQUESTS_PER_CLIENT": 400}
    broken = served(folder, bench, any_runtime, "uvicorn", ASGI, topology="1x2", **loads)
    assert broken.status == "failed"
    assert "is bound to a different event loop" in str(broken.reason)
    assert "Create this state once per loop" in str(broken.reason)
    check_all_is_well(served(folder, bench, any_runtime, "uvicorn", ASGI, topology="2x1", **loads), any_runtime)
