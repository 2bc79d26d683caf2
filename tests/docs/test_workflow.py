"""The action for GitHub and the workflow that uses it: they have the keys that GitHub reads, and the steps run here."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.flags import value_of
from config.plan_options import FAIL_IF_SLOWER
from lab.places import REPOSITORY
from lab.project.commits import check_out
from tests.docs.pages import DOCS, run_parser
from tests.lab.python.fake_pythons import script as program
from tests.lab.run.test_runs import NOBODY, git
from tests.tables import each_row

INPUTS = {"APP": "shop:app", "REQUEST": "GET /", "RUNTIMES": "3.14,3.14t", "FLAGS": "--blocks 6", "DIRECTORY": "."}


ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
WORKFLOW = yaml.safe_load((DOCS / "github-workflow.yml").read_text(encoding="utf-8"))


def steps(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    jobs = document.get("jobs", {"": document.get("runs")})
    return [step for job in jobs.values() for step in job["steps"]]


def script(name: str) -> str:
    """What the step of that name runs."""
    return str(next(step["run"] for step in steps(ACTION) if step.get("name") == name))


def run_step(text: str, folder: Path, status: int = 0, /, **variables: str) -> None:
    """Run a step as GitHub does, in *folder*, whose programs stand before all others. It must end with *status*."""
    paths = {"RUNNER_TEMP": str(folder / "temp"), "GITHUB_WORKSPACE": str(folder / "head")}
    given = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", **paths, **variables}
    command = ["bash", "-e", "-o", "pipefail", "-c", text]
    ended = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == status, ended.stderr


def test_the_workflow_has_the_keys_of_one_and_gives_the_action_inputs_that_it_has() -> None:
    assert set(WORKFLOW) == {"name", True, "permissions", "jobs"}  # YAML 1.1 reads `on` as true
    assert all(job["runs-on"] and job["timeout-minutes"] for job in WORKFLOW["jobs"].values())
    (ours,) = [step for step in steps(WORKFLOW) if "gilscope" in step["uses"]]
    needed = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert needed <= set(ours["with"]) <= set(ACTION["inputs"])
    used = [step["uses"] for document in (ACTION, WORKFLOW) for step in steps(document) if "uses" in step]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", one) for one in used)


def test_the_action_is_composite_and_takes_inputs_by_variables_only() -> None:
    assert (set(ACTION), ACTION["runs"]["using"]) == ({"name", "description", "inputs", "runs"}, "composite")
    for step in steps(ACTION):
        assert ("run" in step) != ("uses" in step)
        assert ("run" in step) == (step.get("shell") == "bash")
        assert "${{" not in step.get("run", "")  # else a branch's name would be a command


ASKED = """
printf '%s\\t' "$(basename "$PWD")" "$@" >> {folder}/asked
echo >> {folder}/asked
"""


def asked(folder: Path) -> list[list[str]]:
    """The folder and the arguments of each call of the program that a step runs."""
    return [line.split("\t")[:-1] for line in (folder / "asked").read_text().splitlines()]


def test_runtimes_and_gilscope_are_installed(tmp_path: Path) -> None:
    program(tmp_path / "uv", ASKED.format(folder=tmp_path))
    run_step(script("Install"), tmp_path, RUNTIMES="3.14,3.14t+gil", GITHUB_ACTION_PATH="/the/action")
    assert [" ".join(words) for _, *words in asked(tmp_path)] == [
        "python install --quiet 3.14", "python install --quiet 3.14t", "tool install --quiet /the/action",
    ]  # fmt: skip


@pytest.fixture
def head(tmp_path: Path) -> Path:
    """A shallow clone of a repository whose head has a parent, and a gilscope that writes down what it is asked."""
    origin = tmp_path / "origin"
    git(tmp_path, "init -q origin")
    for text in ("base", "head"):
        (origin / "shop.py").write_text(text)
        git(origin, "add .")
        git(origin, f"{NOBODY} commit -q -m {text}")
    git(origin, "config uploadpack.allowAnySHA1InWant true")
    git(tmp_path, f"clone -q --depth 1 file://{origin} head")
    program(tmp_path / "gilscope", ASKED.format(folder=tmp_path))
    return tmp_path / "head"


MEASURE = f"cd head\n{script('Measure base and head in turns')}"


@each_row
def test_a_pull_request_is_measured_with_its_base_by_flags_that_a_run_accepts(
    fail_if: str, threshold: float, head: Path, tmp_path: Path
) -> None:
    base = git(tmp_path / "origin", "rev-parse HEAD^")
    run_step(MEASURE, tmp_path, **INPUTS, BASE=base, FAIL_IF=fail_if)
    ((folder, *words),) = asked(tmp_path)
    flags = run_parser().parse(words)
    assert folder == "head"
    assert flags["request"] == [INPUTS["REQUEST"]]
    assert flags["variant"] == [f"base:ref={base}", "head:ref=HEAD"]
    assert value_of(FAIL_IF_SLOWER, flags, 0.0) == threshold
    assert check_out(head, base)[0] == base


def test_a_push_is_measured_alone_and_a_wrong_threshold_is_told(head: Path, tmp_path: Path) -> None:
    run_step(MEASURE, tmp_path, **INPUTS, BASE="", FAIL_IF="slower 15%")
    ((_, *words),) = asked(tmp_path)
    assert run_parser().parse(words)["variant"] in (None, [])
    run_step(MEASURE, tmp_path, 2, **INPUTS, BASE=git(tmp_path / "origin", "rev-parse HEAD^"), FAIL_IF="slower")


def test_the_table_is_added_to_the_summary_if_there_is_one(tmp_path: Path) -> None:
    summary, post = tmp_path / "summary", script("Add the result to the job summary")
    run_step(post, tmp_path, GITHUB_STEP_SUMMARY=str(summary))
    assert not summary.exists()  # nor hides it another failure that there is no run
    (tmp_path / "temp" / "gilscope").mkdir(parents=True)
    (tmp_path / "temp" / "gilscope" / "findings.md").write_text("| 3.14 |\n")
    run_step(post, tmp_path, GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text() == "| 3.14 |\n"
