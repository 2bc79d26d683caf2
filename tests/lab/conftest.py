"""What tests of several modules of lab stand on."""

import sys
from pathlib import Path

import pytest

from lab.python.interpreters import Interpreter, ask


@pytest.fixture(scope="session")
def interpreter() -> Interpreter:
    """The one that runs the tests."""
    found = ask("PATH", Path(getattr(sys, "_base_executable", None) or sys.executable))
    assert found
    return found
