"""Fixtures of the contract tests."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.runtime import NATIVE
from lab.run.cell_processes import Bench
from lab.run.measured_runtimes import Native, Runtime
from lab.user_service import ports
from record.saved_run import CellResult
from tests.conftest import first_or_skip, native_or_skip
from tests.contract.kinds import KINDS, Kind
from tests.contract.own_services import Measured, measured, write_services


@pytest.fixture(scope="module", params=KINDS, ids="-".join)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Every kind of service in turn."""
    runtime, name = request.param
    return Kind(runtime=runtime, name=name)


@pytest.fixture
def native_client(bench: Bench) -> Bench:
    """A bench whose clients are the native load generator."""
    native_or_skip("loadgen")
    method = replace(bench.method, client_runtime=NATIVE)
    return replace(bench, runtimes={**bench.runtimes, NATIVE: Native()}, method=method)


@pytest.fixture(scope="session")
def packaged() -> Runtime:
    """The runtime with the packages of alternatives: the free-threaded one where it is here."""
    return first_or_skip("3.14t", "3.14", "3.11")


@pytest.fixture
def folder(short_folder: Path) -> Path:
    """A folder with all services of tests.contract.own_services."""
    write_services(short_folder)
    return short_folder


@pytest.fixture
def own(folder: Path, bench: Bench, any_runtime: Runtime) -> Measured:
    """Measure a service in *folder*, which a dict says as in a plan, under any runtime unless it is named."""

    def run(given: dict[str, Any], runtime: str = str(any_runtime.name), **how: Any) -> CellResult:
        return measured(folder, bench, runtime, given, **how)

    return run


@pytest.fixture
def redis() -> None:
    """Redis."""
    if not shutil.which("redis-server"):
        pytest.skip("Redis is not installed; on Debian: apt-get install redis-server")


@pytest.fixture
def port() -> Iterator[int]:
    """A port for a service that a test starts: below those that the kernel gives to who asks for any, as others do."""
    leased = ports.lease("127.0.0.1")
    yield leased.port
    leased.lock.close()
