"""The action for GitHub and the workflow that uses it: they have the keys that GitHub reads, and the steps run here."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.places import REPOSITORY
from tests.docs.pages import DOCS, run_parser
from tests.lab.python.fake_pythons import script as program
from tests.lab.run.test_runs import NOBODY, git

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


def test_the_base_is_checked_out_beside_the_head(tmp_path: Path) -> None:
    origin, temp = tmp_path / "origin", tmp_path / "temp"
    temp.mkdir()
    git(tmp_path, "init -q origin")
    for text in ("base", "head"):
        (origin / "shop.py").write_text(text)
        git(origin, "add .")
        git(origin, f"{NOBODY} commit -q -m {text}")
    git(origin, "config uploadpack.allowAnySHA1InWant true")
    git(tmp_path, f"clone -q --depth 1 file://{origin} head")
    step = f"cd head\n{script('Check out the base')}"
    run_step(step, tmp_path, BASE=git(origin, "rev-parse HEAD^"))
    assert [(tmp_path / name / "shop.py").read_text() for name in ("temp/base", "head")] == ["base", "head"]
    run_step(step, tmp_path, BASE="")


ASKED = """
printf '%s\\t' "$(basename "$PWD")" "$@" >> {folder}/asked
echo >> {folder}/asked
"""
MEASURES = f"""{ASKED}
for out; do :; done
mkdir -p "$out"
echo '| 3.14 |' > "$out/findings.md"
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


@pytest.mark.parametrize("names", [["base-1", "head-1", "head-2", "base-2"], ["head-1"]])
def test_base_and_head_are_measured_alike_in_turns_and_a_push_once_and_the_table_is_posted(
    tmp_path: Path, names: list[str]
) -> None:
    """In turns that a drift does not favour, by a command that a run accepts."""
    summary, post = tmp_path / "summary", script("Add the result to the job summary")
    run_step(post, tmp_path, GITHUB_STEP_SUMMARY=str(summary))
    assert not summary.exists()  # nor hides it another failure that there is no run
    for name in names:
        (tmp_path / ("temp/base" if name.startswith("base") else "head")).mkdir(parents=True, exist_ok=True)
    program(tmp_path / "gilscope", MEASURES.format(folder=tmp_path))
    run_step(script("Measure base, head, head, base"), tmp_path, **INPUTS)
    calls = asked(tmp_path)
    assert [folder for folder, *_ in calls] == [name.partition("-")[0] for name in names]
    assert [Path(words[-1]).name for words in calls] == names
    assert len({" ".join(words) for _, *words, _ in calls}) == 1
    assert run_parser().parse(calls[0][1:])["request"] == [INPUTS["REQUEST"]]
    run_step(post, tmp_path, GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text() == "| 3.14 |\n"


@pytest.mark.parametrize(
    ("fail_if", "first", "second", "status"),
    [
        *[("slower 15%", 3, 3, 3), ("slower 15%", 3, 0, 0), ("slower 15%", 0, 3, 0), ("slower 15%", 1, 0, 1)],
        *[("slower 15%", 3, 1, 1), ("never", 3, 3, 0), ("slower", 3, 3, 2)],
    ],
)
def test_the_head_is_slower_if_both_rounds_say_so_and_a_round_without_a_verdict_does_not_pass(
    fail_if: str, first: int, second: int, status: int, tmp_path: Path
) -> None:
    (tmp_path / "temp/gilscope/base-2").mkdir(parents=True)
    program(tmp_path / "gilscope", f'case "$*" in *head-1*15%*) exit {first} ;; *) exit {second} ;; esac')
    run_step(script("Compare"), tmp_path, status, FAIL_IF=fail_if)
