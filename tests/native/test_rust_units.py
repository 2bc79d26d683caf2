"""The unit tests of the Rust programs, run by cargo: among them the quantiles within 0.1 % and the open loop."""

import shutil
import subprocess

import pytest

from lab.native.programs import why_cargo_cannot
from lab.places import NATIVE_SOURCES

TIMEOUT_S = 900


def test_the_rust_programs_pass_their_unit_tests() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    done = subprocess.run(
        ["cargo", "test", "--quiet"],
        cwd=NATIVE_SOURCES,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=TIMEOUT_S,
        check=False,
    )
    why_not = why_cargo_cannot(done.stdout) if done.returncode else ""
    if why_not:
        pytest.skip(str(why_not))
    assert done.returncode == 0, done.stdout
    assert "test result: ok" in done.stdout
