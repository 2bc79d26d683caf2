"""Fixtures of the contract tests."""

from pathlib import Path

import pytest

from lab.run.runtimes import Runtime
from tests.conftest import found
from tests.contract.kinds import KINDS, Kind, kind_or_skip
from tests.contract.own_services import write_services


@pytest.fixture(scope="module", params=KINDS, ids="-".join)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Every kind of service in turn."""
    return kind_or_skip(*request.param)


@pytest.fixture(scope="session")
def packaged() -> Runtime:
    """The runtime with the packages of alternatives: the free-threaded one where it is here."""
    for name in ("3.14t", "3.14", "3.11"):
        if name in found():
            return found()[name]
    pytest.skip("No runtime was found. Install one with: uv python install 3.14t")


@pytest.fixture
def folder(short_folder: Path) -> Path:
    """A folder with all services of tests.contract.own_services."""
    write_services(short_folder)
    return short_folder
