"""A pytest plugin that names the running test as the context of every covered line, also in child processes."""

import os
from collections.abc import Iterator

import coverage
import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Record lines that this process runs, and those that its children run, under the test's name."""
    current = coverage.Coverage.current()
    os.environ["STRENGTH_TEST"] = item.nodeid
    if current is not None:
        current.switch_context(item.nodeid)
    return (yield)
