"""Runtimes and clients that a run takes, where some are missing."""

import re
from argparse import Namespace
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import chosen
from commands.stress import with_two_arms
from config.flags import Parser, add_run_flags, plan_from
from config.load import load_experiment
from config.plan import Plan
from core.errors import BadInput
from core.messages import message
from core.method import ORCHESTRATOR, SAME
from core.runtime import NATIVE, RuntimeName
from lab.native import programs
from lab.python import uv
from tests.lab.python.fake_pythons import fake_python

FLAGS: Mapping[str, Any] = {"client_runtime": None, "resume": None}


@pytest.mark.parametrize(
    ("built", "flags", "clients"),
    [
        (True, FLAGS, NATIVE),
        (False, FLAGS, SAME),
        (False, {**FLAGS, "client_runtime": NATIVE}, NATIVE),
        (False, {**FLAGS, "resume": "run"}, NATIVE),
    ],
)
def test_python_clients_call_where_native_ones_are_not_built_and_nobody_insists(
    built: bool,
    flags: Mapping[str, Any],
    clients: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    why = message("") if built else message("not built; build it with: {program} native", program="gilscope")
    monkeypatch.setattr(programs, "missing", lambda name: why)
    plan = chosen._with_clients(load_experiment("evidence"), flags)
    assert plan.method.client_runtime == clients
    assert ("build it with: gilscope native" in capsys.readouterr().err) == (clients == SAME)


def service_plan(*flags: str) -> Plan:
    """The plan of a service of one's own."""
    parser = Parser("", message("a test"))
    add_run_flags(parser)
    return plan_from({"profile": None, **parser.parse(["--service-command", "{python} a.py {port}", *flags])})


@pytest.mark.parametrize(
    ("flags", "built", "clients"),
    [
        ("", True, NATIVE),
        ("", False, ORCHESTRATOR),
        ("--experiment quick", True, NATIVE),
        ("--client-runtime 3.14", True, "3.14"),
    ],
)
def test_the_native_client_calls_a_service_of_ones_own_where_it_is_built(
    flags: str, built: bool, clients: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "missing", lambda name: message("") if built else message("not built"))
    assert chosen._with_clients(service_plan(*flags.split()), FLAGS).method.client_runtime == clients


NOT_BUILT = "which is not built: needs cargo. Install cargo (the package of your distribution is enough), and run: "


@pytest.mark.parametrize("flags", ["--protocol http2", "--request /{{user}}", "--header A:{{counter}}"])
def test_what_only_the_native_client_can_send_is_refused_without_it(
    flags: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "missing", lambda name: message("not built: needs cargo"))
    plan = service_plan(*flags.split())
    with pytest.raises(BadInput, match=re.escape(f"needs the native client, {NOT_BUILT}")):
        chosen._with_clients(plan, FLAGS)
    with pytest.raises(BadInput, match=re.escape("the clients' runtime is 3.14. Set --client-runtime native")):
        chosen._with_clients(service_plan(*flags.split(), "--client-runtime", "3.14"), FLAGS)
    with pytest.raises(BadInput, match="stress calls the service from Python clients, which have no sessions"):
        with_two_arms(plan)


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        ("3.14.6t,3.14.7t", ""),
        ("3.14.6t,3.14t", ""),
        ("3.14.6t,3.14.8t", "Runtime 3.14.8t was not found. Installed: 3.14.7t and 3.14.6t"),
        ("3.14.7t,3.14t", "Runtimes 3.14.7t and 3.14t are both CPython 3.14.7t."),
    ],
)
def test_of_patch_releases_each_must_be_there_and_none_twice(
    names: str, refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, version in (("a", "3.14.6"), ("b", "3.14.7")):
        fake_python(tmp_path / folder / "python3.14t", version, free_threaded=True)
    monkeypatch.setattr(uv, "find", lambda: None)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    plan = replace(load_experiment("default"), runtimes=tuple(map(RuntimeName, names.split(","))))
    with pytest.raises(BadInput, match=refused) if refused else nullcontext():
        assert [*chosen.choose_runtimes(plan, FLAGS)[0].runtimes] == names.split(",")


def plan_with(environment: Mapping[str, str]) -> Any:
    return Namespace(user_service=Namespace(command=Namespace(environment=environment)))


def test_a_variable_that_a_build_does_not_know_is_told_before_anything_is_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = [RuntimeName(name) for name in ("3.11", "3.14", "3.14t")]
    chosen._note_variables(plan_with({"PYTHON_GIL": "0", "PYTHON_CPU_COUNT": "2", "PYTHONPATH": "src"}), names)
    assert capsys.readouterr().err.splitlines() == [
        "PYTHON_GIL from --env is not passed to 3.11 and 3.14, which ignore it or do not start with it.",
        "PYTHON_CPU_COUNT from --env is not passed to 3.11, which ignore it or do not start with it.",
    ]
