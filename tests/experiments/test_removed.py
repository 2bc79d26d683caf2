"""Each experiment can be removed: all others, the tests of what they share, and a run still work."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiments import plans
from lab.python.interpreters import scrubbed_environment
from lab.run.runtimes import Runtime
from tests.test_import_table import PACKAGES, REPOSITORY

SHARED = ("tests/config/test_find_system.py", "tests/config/test_orders.py", "tests/test_import_table.py")
GOLDEN = "tests/golden/test_golden.py::test_outputs_are_what_they_were"
SMALL = ("--blocks", "1", "--num-api-services", "1", "--num-requests-per-client", "20", "--out", "run")


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: plan.stem)
def test_without_one_experiment_the_others_are_listed_tested_and_a_run_is_made(
    plan: Path, tmp_path: Path, any_runtime: Runtime
) -> None:
    skipped = shutil.ignore_patterns("__pycache__", "out")
    for package in (*PACKAGES, "tests"):
        shutil.copytree(REPOSITORY / package, tmp_path / package, ignore=skipped)
    for file in ("runner.py", "hatch_build.py", "pyproject.toml"):
        shutil.copy(REPOSITORY / file, tmp_path)
    shutil.rmtree(tmp_path / "experiments" / plan.parent.name)

    def done(*command: str, status: int = 0) -> str:
        ended = subprocess.run(
            [sys.executable, *command],
            check=False,
            cwd=tmp_path,
            env=scrubbed_environment(),
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert ended.returncode == status, ended.stdout + ended.stderr
        return ended.stdout + ended.stderr

    others = [other.stem for other in plans() if other != plan]
    refusal = done("runner.py", "plan", "--experiment", plan.stem, status=2)
    assert all(other in refusal for other in others)
    done("-c", "import sys, config.load as plans; [*map(plans.load_experiment, sys.argv[1:])]", *others)
    done("runner.py", "--help")
    done("runner.py", "--system", "2", "--runtime", str(any_runtime.name), *SMALL)
    kept = [f"{GOLDEN}[{name}]" for name in ("one-runtime", *others)]
    done("-m", "pytest", "-q", "-p", "no:cacheprovider", *SHARED, *kept)
