"""Tests that measure time run alone, and those of this folder not beside them."""

from tests.alone import pytest_runtest_protocol  # noqa: F401 - a hook
