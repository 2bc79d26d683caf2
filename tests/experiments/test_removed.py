"""Experiments can be removed: what they share, its tests and a run need none."""

import shutil
import subprocess
import sys
from pathlib import Path

from experiments import plans
from lab.places import REPOSITORY
from lab.processes import scrubbed_environment
from lab.run.measured_runtimes import Runtime
from tests.test_import_table import PACKAGES

SHARED = ("tests/config/test_find_system.py", "tests/config/test_orders.py", "tests/test_import_table.py")
GOLDEN = "tests/golden/test_golden.py::test_outputs_are_what_they_were"
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
SMALL = ("--blocks", "1", "--num-api-services", "1", "--num-requests-per-client", "20", "--out", "run")


def copy_packages(folder: Path) -> None:
    """Copy all packages and tests to *folder*."""
    skipped = shutil.ignore_patterns("out")  # byte code is copied, because to make it again takes longer
    for package in (*PACKAGES, "tests"):
        shutil.copytree(REPOSITORY / package, folder / package, ignore=skipped)
    for file in ("runner.py", "hatch_build.py", "pyproject.toml"):
        shutil.copy(REPOSITORY / file, folder)


def python(folder: Path, *command: str, status: int = 0) -> str:
    """Run Python in *folder*, and return what it says."""
    ended = subprocess.run(
        [sys.executable, *command],
        check=False,
        cwd=folder,
        env=scrubbed_environment(),
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert ended.returncode == status, ended.stdout + ended.stderr
    return ended.stdout or ended.stderr


def test_without_experiments_the_rest_is_listed_tested_and_a_run_is_made(tmp_path: Path, any_runtime: Runtime) -> None:
    copy_packages(tmp_path)
    for plan in plans():
        shutil.rmtree(tmp_path / "experiments" / plan.parent.name)
    assert "quick" in python(tmp_path, "runner.py", "plan", "--experiment", "league", status=2)
    python(tmp_path, "runner.py", "--system", "2", "--runtime", str(any_runtime.name), *SMALL)
    python(tmp_path, *PYTEST, *SHARED, f"{GOLDEN}[one-cell]")
