"""Fixtures of the contract tests."""

import pytest

from tests.contract.kinds import KINDS, Kind, kind_or_skip


@pytest.fixture(scope="module", params=KINDS, ids="-".join)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Every kind of service in turn."""
    return kind_or_skip(*request.param)
