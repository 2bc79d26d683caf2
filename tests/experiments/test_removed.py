"""Each experiment can be removed: none needs another, and what they share, its tests and a run need none."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments import plans
from lab.processes import scrubbed_environment
from lab.run.runtimes import Runtime
from tests.test_import_table import PACKAGES, REPOSITORY

SHARED = ("tests/config/test_find_system.py", "tests/config/test_orders.py", "tests/test_import_table.py")
GOLDEN = "tests/golden/test_golden.py::test_outputs_are_what_they_were"
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
SMALL = ("--blocks", "1", "--num-api-services", "1", "--num-requests-per-client", "20", "--out", "run")


def copied(folder: Path, only: str = "") -> Callable[..., str]:
    """Copy the repository with only one experiment, or with none; what runs Python there, and returns what it says."""
    skipped = shutil.ignore_patterns("out")  # byte code is copied, because to make it again takes longer
    for package in (*PACKAGES, "tests"):
        shutil.copytree(REPOSITORY / package, folder / package, ignore=skipped)
    for file in ("runner.py", "hatch_build.py", "pyproject.toml"):
        shutil.copy(REPOSITORY / file, folder)
    for plan in plans():
        if plan.stem != only:
            shutil.rmtree(folder / "experiments" / plan.parent.name)

    def run(*command: str, status: int = 0) -> str:
        ended = subprocess.run(
            [sys.executable, *command],
            check=False,
            cwd=folder,
            env=scrubbed_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
        )
        assert ended.returncode == status, ended.stdout
        return ended.stdout

    return run


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: plan.stem)
def test_an_experiment_needs_no_other(plan: Path, tmp_path: Path) -> None:
    run = copied(tmp_path, plan.stem)
    run("-c", f"from config.load import load_experiment; load_experiment({plan.stem!r})")
    run(*PYTEST, f"{GOLDEN}[{plan.stem}]")


def test_without_experiments_the_rest_is_listed_tested_and_a_run_is_made(tmp_path: Path, any_runtime: Runtime) -> None:
    run = copied(tmp_path)
    assert "quick" in run("runner.py", "plan", "--experiment", "league", status=2)
    run("runner.py", "--help")
    run("runner.py", "--system", "2", "--runtime", str(any_runtime.name), *SMALL)
    run(*PYTEST, *SHARED, f"{GOLDEN}[one-runtime]")
