"""The workflow for GitHub: it is YAML with the keys that GitHub reads, and its commands are ones that we accept."""

import os
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.pages import DOCS, rows
from tests.docs.test_docs import accept

WORKFLOW = DOCS / "github-workflow.yml"


@pytest.fixture(scope="module")
def workflow() -> Any:
    return yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))


def steps(workflow: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def commands(workflow: Mapping[str, Any]) -> list[list[str]]:
    """The words of every command of ours, from runner.py on."""
    lines = [line for step in steps(workflow) for line in step.get("run", "").splitlines()]
    return [shlex.split(line.partition(" || ")[0])[2:] for line in lines if "runner.py" in line]


def test_it_has_the_keys_of_a_workflow_and_every_step_does_one_thing(workflow: Mapping[Any, Any]) -> None:
    assert set(workflow) == {"name", True, "permissions", "jobs"}  # YAML 1.1 reads `on` as true
    assert all(job["runs-on"] and job["timeout-minutes"] for job in workflow["jobs"].values())
    assert all(("run" in step) != ("uses" in step) for step in steps(workflow))


def test_actions_are_pinned_to_a_version(workflow: Mapping[str, Any]) -> None:
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", one) for one in used)


def test_its_commands_are_accepted(workflow: Mapping[str, Any]) -> None:
    found = commands(workflow)
    assert [words[0] for words in found] == ["--experiment", "--system", "compare", "compare", "compare"]
    for words in found:
        accept(words)


def test_it_runs_the_quick_plan_so_that_build_and_lock_come_apart(workflow: Mapping[str, Any]) -> None:
    quick = commands({"jobs": {"quick": workflow["jobs"]["quick"]}})[0]
    assert quick[:4] == ["--experiment", "quick", "--runtime", "3.14,3.14t+gil,3.14t"]


def script(workflow: Mapping[str, Any], name: str) -> str:
    """What the step of that name runs."""
    return str(next(step["run"] for step in steps(workflow) if step.get("name") == name))


def run_step(text: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does, in *folder*, whose programs stand before all others."""
    given = {"PATH": f"{folder}:{os.environ['PATH']}", **variables}
    return subprocess.run(
        ["bash", "-e", "-c", text], cwd=folder, env=given, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(("files", "posted"), [((), ""), (("table.md", "findings.md"), "table.mdfindings.md")])
def test_the_table_is_posted_where_there_is_one_and_its_absence_hides_no_other_failure(
    files: Sequence[str], posted: str, workflow: Mapping[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    for name in files:
        (tmp_path / "run" / name).write_text(name)
    summary = tmp_path / "summary"
    summary.touch()
    ended = run_step(script(workflow, "Post the table and what it means"), tmp_path, GITHUB_STEP_SUMMARY=str(summary))
    assert (ended.returncode, summary.read_text()) == (0, posted)


def program(folder: Path, text: str) -> None:
    path = folder / "python3"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_base_and_head_are_measured_alike_and_in_turns_that_a_drift_does_not_favour(
    workflow: Mapping[str, Any], tmp_path: Path
) -> None:
    for side in ("base", "head"):
        (tmp_path / side).mkdir()
    program(tmp_path, f'echo "$PWD $*" >> {tmp_path}/asked')
    ended = run_step(script(workflow, "Measure base, head, head, base"), tmp_path, GITHUB_WORKSPACE=str(tmp_path))
    assert ended.returncode == 0, ended.stderr
    asked = [line.split() for line in (tmp_path / "asked").read_text().splitlines()]
    assert [Path(words[0]).name for words in asked] == ["base", "head", "head", "base"]
    assert len({" ".join(words[1:-1]) for words in asked}) == 1
    assert [words[-1] for words in asked] == [f"../run-{name}" for name in ("base-1", "head-1", "head-2", "base-2")]


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [(0, 0, 0), (3, 3, 3), (3, 0, 0), (0, 3, 0), (1, 0, 1), (0, 1, 1), (3, 1, 1), (2, 2, 1)],
)
def test_the_head_is_slower_if_both_rounds_say_so_and_a_round_without_a_verdict_does_not_pass(
    first: int, second: int, status: int, workflow: Mapping[str, Any], tmp_path: Path
) -> None:
    program(tmp_path, f'case "$*" in *run-head-1*) exit {first} ;; *) exit {second} ;; esac')
    assert run_step(script(workflow, "Compare"), tmp_path).returncode == status


def test_the_page_tells_of_every_job(workflow: Mapping[str, Any]) -> None:
    text = (DOCS / "ci.md").read_text()
    jobs = [row[0].strip("`") for row in rows(DOCS / "ci.md", "In continuous integration")]
    assert jobs == list(workflow["jobs"])
    assert "fails if a cell of the head is slower by 15 % or more" in " ".join(text.split())
