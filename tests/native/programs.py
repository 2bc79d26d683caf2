"""The native programs as tests start them: as a child that is told a cell, or by hand."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.method import Method
from lab.native_builds import COMPILE_ERROR, PROGRAMS
from lab.places import NATIVE_SOURCES, REPOSITORY

RUNTIME = "native"
CARGO_TIMEOUT_S = 1800
USAGE = {
    *("cpu_user_ns", "cpu_system_ns", "voluntary_switches", "involuntary_switches", "run_queue_ns"),
    *("max_rss_bytes", "pss_bytes"),
}


def cargo_test(*arguments: str, seed: int, cases: int) -> str:
    """What `cargo test` printed, all of it passed; *cases* of each property. The test is skipped where cargo cannot."""
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    properties = {"PROPTEST_CASES": str(cases), "PROPTEST_RNG_SEED": str(seed)}
    done = subprocess.run(
        ["cargo", "test", *arguments],
        cwd=NATIVE_SOURCES,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=CARGO_TIMEOUT_S,
        check=False,
        env={**os.environ, **properties, "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1"},
    )
    is_built = "\nrunning " in done.stdout or COMPILE_ERROR in done.stdout
    if done.returncode and not is_built:  # the installed Rust is too old, or there is no network
        pytest.skip("needs cargo that can build this")
    assert done.returncode == 0, done.stdout
    return done.stdout


def program_or_skip(name: str) -> str:
    """The path of a program in native/bin. The test is skipped where it has not been built."""
    path = REPOSITORY / "native" / "bin" / name
    if not path.exists():
        pytest.skip(f"{name} is not built. Build it with: make native")
    return str(path)


def started(name: str, *flags: str) -> list[str]:
    """The command line of a program by hand. The test is skipped where it has not been built."""
    path = program_or_skip(name)
    return [*(["java", "-jar", path] if name.endswith(".jar") else [path]), *flags]


def as_service(name: str) -> list[str]:
    """The command line of a program as the service of a cell: it takes --child, or a Python process hosts it."""
    host = PROGRAMS[name.removesuffix(".jar")].host
    return [sys.executable, "-s", "-m", host, *started(name)] if host else started(name, "--child")


def told_service(folder: str | Path, params: Mapping[str, Any], *, system: str = "", **more: Any) -> dict[str, Any]:
    """What a service is told: its cell, and its place in it."""
    named = {"cell_id": "a-test", "system": system, "runtime": RUNTIME, "params": dict(params)}
    return {**named, "service_id": 0, "folder": str(folder), "cpus": [], **more}


def told_client(
    addresses: list[list[str]],
    *,
    method: Method = Method(),  # noqa: B008
    **params: Any,
) -> dict[str, Any]:
    """What a client is told: 20 requests for a count of 50, but for *params*."""
    named = {"cell_id": "a-test", "system": "2", "runtime": RUNTIME}
    asked = {"CALC_TARGET": 50, "NUM_REQUESTS_PER_CLIENT": 20, "NUM_THREADS_PER_CLIENT": 2, **params}
    return {**named, "params": asked, "client_id": 0, "addresses": addresses, "method": method.to_json(), "cpus": []}
