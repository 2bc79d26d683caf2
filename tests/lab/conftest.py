"""What tests of several modules of lab stand on."""

import pytest

from lab.sandbox import Sandbox
from tests.lab.scripted_children import Scripted, scripted_cells


@pytest.fixture
def scripted(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Measures a cell of scripted children."""
    return scripted_cells(sandbox, monkeypatch)
