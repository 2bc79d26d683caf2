"""Tests that measure time run alone: no other test runs meanwhile, as xdist calls the hooks of every conftest.

The locks hold across pytest workers, whatever deals out the tests. A fork does not inherit POSIX locks.
"""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])
_LOCK = Path(tempfile.gettempdir()) / f"gilscope-tests-{os.getuid()}"
_ALONE: set[str] = set()
_HELD: list[pytest.Item] = []  # the hook is in several conftests: of one item it takes the locks once


def alone(test: Test) -> Test:
    """This test runs while none of the others does."""
    _ALONE.add(f"{test.__module__}.{test.__qualname__}")
    return test


@contextmanager
def _held(name: str, operation: int) -> Iterator[None]:
    with _LOCK.with_suffix(name).open("a+b") as file:
        fcntl.lockf(file, operation)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Wait for the test that runs alone, or for all others; whoever waits for the others lets no new one begin."""
    function = getattr(item, "function", None)
    is_alone = function is not None and f"{function.__module__}.{function.__qualname__}" in _ALONE
    if _HELD:
        return (yield)
    with ExitStack() as running:
        _HELD.append(item)
        running.callback(_HELD.clear)
        with _held(".gate", fcntl.LOCK_EX):
            running.enter_context(_held(".lock", fcntl.LOCK_EX if is_alone else fcntl.LOCK_SH))
        return (yield)
