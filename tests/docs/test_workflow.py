"""The workflow for GitHub: it is YAML with the keys that GitHub reads, and its commands are ones that we accept."""

import re
import shlex
from collections.abc import Mapping
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
    return [shlex.split(line)[2:] for line in lines if "runner.py" in line]


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
    assert [words[0] for words in found] == ["--experiment", "--system", "--system", "compare"]
    for words in found:
        accept(words)


def test_it_runs_the_quick_plan_on_both_builds_and_posts_the_table(workflow: Mapping[str, Any]) -> None:
    quick = commands({"jobs": {"quick": workflow["jobs"]["quick"]}})[0]
    assert quick[:4] == ["--experiment", "quick", "--runtime", "3.14,3.14t"]
    posting = [step["run"] for step in workflow["jobs"]["quick"]["steps"] if "SUMMARY" in step.get("run", "")]
    assert posting == ['cat run/table.md run/findings.md >> "$GITHUB_STEP_SUMMARY"']


def test_base_and_head_are_measured_alike(workflow: Mapping[str, Any]) -> None:
    base, head = (words[:-1] for words in commands(workflow)[1:3])
    assert base == head


def test_the_page_tells_of_every_job(workflow: Mapping[str, Any]) -> None:
    text = (DOCS / "ci.md").read_text()
    jobs = [row[0].strip("`") for row in rows(DOCS / "ci.md", "In continuous integration")]
    assert jobs == list(workflow["jobs"])
    assert "fails if a cell of the head is slower by 15 % or more" in text
