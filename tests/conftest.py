"""What tests of several packages stand on: the runtimes that are here, and a sandbox for real processes."""

import fcntl
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from glob import glob
from pathlib import Path

import pytest
from hypothesis import settings

from lab import native_builds
from lab.folders import Sandbox
from lab.python import interpreters
from lab.run.cell_processes import Bench
from lab.run.measured_runtimes import Runtime, present

for helper in ("kinds", "peers", "runs", "serving", "speaking"):
    pytest.register_assert_rewrite(f"tests.contract.{helper}")

# Whoever runs the tests in the background (nohup, &) has them and all that they start ignore what tests send.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

# No property test is timed: the machine may be busy with the others. Only the campaign draws anew each time.
settings.register_profile("repeatable", deadline=None, derandomize="CAMPAIGN" not in os.environ)
settings.load_profile("repeatable")

RUNTIMES = ("3.11", "3.14", "3.14t+gil", "3.14t")
NEWER = ("3.15", "3.15t+gil", "3.15t", "3.14+jit", "3.15+jit")  # for tests/contract/test_newer.py: suites take too long


@cache
def found(names: tuple[str, ...] = RUNTIMES) -> dict[str, Runtime]:
    """Those of *names* whose interpreter is on this machine."""
    return present(names, interpreters.find(names))


def runtime_or_skip(name: str) -> Runtime:
    """The runtime of that name; where it is missing the test is skipped, with the command that installs it."""
    here = found(NEWER if name in NEWER else RUNTIMES)
    if name not in here:
        pytest.skip(str(interpreters.missing(name)))
    return here[name]


def first_or_skip(*names: str) -> Runtime:
    """The first of these runtimes that is on this machine; the test is skipped if there is none."""
    here = [found()[name] for name in names if name in found()]
    if not here:
        pytest.skip(f"None of {', '.join(names)} was found. Install one with: uv python install {names[0]}")
    return here[0]


def native_or_skip(name: str) -> list[str]:
    """The command line of a native program or a load generator; where it is missing the test is skipped, with why."""
    why_not = native_builds.missing(name)
    if why_not:
        pytest.skip(f"{name}: {why_not}")
    return native_builds.command(native_builds.PROGRAMS[name])


@pytest.fixture(scope="session", params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> Runtime:
    """Every runtime in turn."""
    return runtime_or_skip(request.param)


@pytest.fixture(scope="session", params=NEWER)
def newer_runtime(request: pytest.FixtureRequest) -> Runtime:
    """Every one of NEWER in turn."""
    return runtime_or_skip(request.param)


@pytest.fixture(scope="session")
def any_runtime() -> Runtime:
    """One runtime, for what does not depend on which."""
    return first_or_skip("3.14", *RUNTIMES)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox for all tests of the session."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def bench(sandbox: Sandbox) -> Bench:
    """What lab.run.measure needs to run cells of any runtime that is here."""
    return Bench(sandbox=sandbox, runtimes=found() | found(NEWER))


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A new folder whose path leaves room for Unix sockets (pytest's tmp_path may not)."""
    with tempfile.TemporaryDirectory(prefix="g-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def postgres() -> Iterator[None]:
    """PostgreSQL, as Debian installs it, for one test at a time: a run would count another test's as a stranger's."""
    if not (shutil.which("initdb") or glob("/usr/lib/postgresql/*/bin/initdb")):
        pytest.skip("PostgreSQL is not installed; on Debian: apt-get install postgresql")
    with Path(sys.prefix, "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import the files without tests that run alone if only those are asked for: this saves 5 s."""
    is_other = config.option.markexpr == "alone" and collection_path.match("test_*.py")
    return True if is_other and "mark.alone" not in collection_path.read_text("utf-8") else None


def unlisted(reasons: Iterable[str]) -> list[str]:
    """Return the reasons of skips that no pattern of skips.txt matches."""
    lines = Path(__file__).with_name("skips.txt").read_text().splitlines()
    patterns = [re.compile(line) for line in lines if line and not line.startswith("#")]
    return sorted({reason for reason in reasons if not any(pattern.match(reason) for pattern in patterns)})


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the session in CI if a test was skipped for a reason that is not listed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or "CI" not in os.environ or hasattr(session.config, "workerinput"):
        return
    skipped = [report.longrepr[2].removeprefix("Skipped: ") for report in reporter.stats.get("skipped", ())]
    for reason in unlisted(skipped):
        reporter.write_line(f"A skip whose reason tests/skips.txt does not have: {reason}", red=True)
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
