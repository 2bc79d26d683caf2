"""Rows of tests that are data: in the YAML file beside a test file, which has its name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

Test = TypeVar("Test", bound=Callable[..., None])


def table(file: str, name: str = "") -> Any:
    """Return what the YAML file *name* beside the test file *file* holds. Without a name it is called like *file*."""
    path = Path(file)
    return yaml.safe_load(path.with_name(name or f"{path.stem}.yaml").read_text("utf-8"))


def each_row(test: Test) -> Test:
    """Run a test with each row that the YAML file beside it has under the test's name, after its arguments' names."""
    names, *rows = table(test.__code__.co_filename)[test.__name__]
    made: Test = pytest.mark.parametrize(names, rows, ids=lambda value: str(value)[:40])(test)
    return made
