"""Fixtures of the contract tests."""

from pathlib import Path

import pytest

from tests.contract.kinds import KINDS, Kind, kind_or_skip
from tests.contract.own_services import write_services


@pytest.fixture(scope="module", params=KINDS, ids="-".join)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Every kind of service in turn."""
    return kind_or_skip(*request.param)


@pytest.fixture
def folder(short_folder: Path) -> Path:
    """A folder with all services of tests.contract.own_services."""
    write_services(short_folder)
    return short_folder
