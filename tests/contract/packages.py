"""Packages that a test needs: where they cannot be had for want of a network it is skipped, otherwise it fails."""

import subprocess
import sys
import tempfile
from functools import cache
from typing import NoReturn

import pytest

from lab.processes import run, scrubbed_environment
from lab.python import uv

SMALL_PACKAGE = "iniconfig"
TIMEOUT_S = 60.0


def not_installed(reason: str) -> NoReturn:
    """End the test of a package that could not be installed: with a network that is a fault of ours."""
    if index_answers():
        pytest.fail(f"{reason} (the package index answers, so this is not for want of a network)")
    pytest.skip(f"no package index answers: {reason}")


@cache
def index_answers() -> bool:
    """Whether a small package could be had from the index, now and without a cache. Nothing is installed."""
    tool = uv.find()
    if tool is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--dry-run", "--no-cache", "--no-deps", "--python", sys.executable, "--target", folder]
        try:
            done = run([tool, "pip", "install", *flags, SMALL_PACKAGE], TIMEOUT_S, scrubbed_environment())
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0
