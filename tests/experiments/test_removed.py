"""Each experiment can be removed: none needs another, and what they share, its tests and a run need none."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiments import plans
from lab.processes import scrubbed_environment
from lab.run.runtimes import Runtime
from tests.test_import_table import PACKAGES, REPOSITORY

SHARED = ("tests/config/test_find_system.py", "tests/config/test_orders.py", "tests/test_import_table.py")
GOLDEN = "tests/golden/test_golden.py::test_outputs_are_what_they_were"
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
LOADED_AND_SHOWN = """
import sys, pytest
from config.load import load_experiment
load_experiment(sys.argv[1])
sys.exit(pytest.main(sys.argv[2:]))
"""
SMALL = ("--blocks", "1", "--num-api-services", "1", "--num-requests-per-client", "20", "--out", "run")


def copy_packages(folder: Path) -> None:
    """Copy all packages and tests to *folder*."""
    skipped = shutil.ignore_patterns("out")  # byte code is copied, because to make it again takes longer
    for package in (*PACKAGES, "tests"):
        shutil.copytree(REPOSITORY / package, folder / package, ignore=skipped)
    for file in ("runner.py", "hatch_build.py", "pyproject.toml"):
        shutil.copy(REPOSITORY / file, folder)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository without experiments."""
    folder = tmp_path_factory.mktemp("copy")
    copy_packages(folder)
    for plan in plans():
        shutil.rmtree(folder / "experiments" / plan.parent.name)
    return folder


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


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: plan.stem)
def test_an_experiment_needs_no_other(plan: Path, copy: Path) -> None:
    alone = copy / "experiments" / plan.parent.name
    shutil.copytree(plan.parent, alone)
    try:
        python(copy, "-c", LOADED_AND_SHOWN, plan.stem, *PYTEST[2:], f"{GOLDEN}[{plan.stem}]")
    finally:
        shutil.rmtree(alone)


def test_without_experiments_the_rest_is_listed_tested_and_a_run_is_made(copy: Path, any_runtime: Runtime) -> None:
    assert "quick" in python(copy, "runner.py", "plan", "--experiment", "league", status=2)
    python(copy, "runner.py", "--system", "2", "--runtime", str(any_runtime.name), *SMALL)
    python(copy, *PYTEST, *SHARED, f"{GOLDEN}[one-cell]")
