"""Runtimes and clients that a run takes, where some are missing."""

import json
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from commands import chosen
from commands.stress import with_two_arms
from config.load import load_experiment
from config.run_plan import Plan
from core.messages import NOTHING, BadInput, message
from core.method import ORCHESTRATOR, SAME
from core.runtime import RuntimeName
from lab import native_builds
from lab.python import uv
from lab.run import feasible
from tests.config.planning import planned
from tests.lab.python.fake_pythons import fake_pythons
from tests.tables import each_row

FLAGS = {"client_runtime": None, "resume": None}


def service_plan(flags: str) -> Plan:
    """The plan of a service of one's own."""
    return planned(f"--service-command '{{python}} a.py {{port}}' {flags}")


@each_row
def test_the_native_client_calls_where_it_is_built_or_somebody_insists(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given, _, clients = line.partition(" -> ")
    words, flags, state = given.split(" | ")
    why = message("not built; build it with: {program} native", program="gilscope")
    monkeypatch.setattr(native_builds, "missing", lambda name: NOTHING if state == "built" else why)
    plan = load_experiment(words) if words == "evidence" else service_plan(words)
    assert chosen._with_clients(plan, {**FLAGS, **json.loads(flags)}).method.client_runtime == clients
    assert ("build it with: gilscope native" in capsys.readouterr().err) == (clients in (SAME, ORCHESTRATOR))


NOT_BUILT = "which is not built: needs cargo. Install cargo (the package of your distribution is enough), and run: "


@each_row
def test_what_only_the_native_client_can_send_is_refused_without_it(
    flags: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_builds, "missing", lambda name: message("not built: needs cargo"))
    plan = service_plan(flags)
    with pytest.raises(BadInput, match=re.escape(f"needs the native client, {NOT_BUILT}")):
        chosen._with_clients(plan, FLAGS)
    with pytest.raises(BadInput, match=re.escape("the clients' runtime is 3.14. Set --client-runtime native")):
        chosen._with_clients(service_plan(f"{flags} --client-runtime 3.14"), FLAGS)
    with pytest.raises(BadInput, match="stress calls the service from Python clients, which have no sessions"):
        with_two_arms(plan)


@each_row
def test_runtimes_that_are_not_there_or_have_nothing_to_compare_are_refused(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pythons(tmp_path, "a/python3.14t 3.14.6 free_threaded\nb/python3.14t 3.14.7 free_threaded")
    monkeypatch.setattr(uv, "find", lambda: None)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    flags, _, refused = line.partition(" ->")
    plan = service_plan(flags)
    with pytest.raises(BadInput, match=refused.strip()) if refused else nullcontext():
        assert chosen.choose_runtimes(plan, FLAGS)[0].runtimes == plan.runtimes


def test_a_variable_that_a_build_does_not_know_is_told_before_anything_is_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = [RuntimeName(name) for name in ("3.11", "3.14", "3.14t")]
    plan = service_plan("--env PYTHON_GIL=0 --env PYTHON_CPU_COUNT=2 --env PYTHONPATH=src")
    chosen._note_variables(plan, names)
    assert capsys.readouterr().err.splitlines() == [
        "PYTHON_GIL is not passed to 3.11 and 3.14, which ignore this variable or do not start when it is set.",
        "PYTHON_CPU_COUNT is not passed to 3.11, which ignore this variable or do not start when it is set.",
    ]


def test_a_plan_without_requirements_says_that_no_package_of_the_project_is_installed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "r.txt").touch()
    chosen._note_packages(planned("--app a:b --server uvicorn --requirements r.txt"))
    assert capsys.readouterr().err == ""
    chosen._note_packages(planned("--app a:b --server uvicorn"))
    assert "Those of pyproject.toml are not installed" in capsys.readouterr().err


def test_variants_that_do_not_start_where_prepare_runs_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    variants = f"--variant a:directory={tmp_path} --variant b:env=X=1"
    chosen._note_folders(service_plan(f"{variants} --prepare 'python seed.py'"))
    assert f"runs in {Path.cwd()}, but a start in folders of their own" in capsys.readouterr().err
    chosen._note_folders(service_plan(variants))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [("--service-command '{python} a.py {port}' --request /items", "a.py GET /items"), ("--system 1,2", "system 1")],
)
def test_what_is_not_measured_is_called_as_in_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    """A user's service was `system own` here."""
    plan = planned(f"{words} --runtime 3.14,3.14t")
    system = min(system.key for system, _ in plan.pairs())
    absent = replace(plan, absent={(system, "3.14t"): message("no wheel")})
    monkeypatch.setattr(feasible, "drop_absent", lambda *_: absent)
    monkeypatch.setattr(feasible, "expect_different", lambda *_: None)
    chosen.without_absent(plan, {})
    assert f"Not measured: {said} under 3.14t. Reason: no wheel" in capsys.readouterr().err
