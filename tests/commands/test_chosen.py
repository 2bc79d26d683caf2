"""Runtimes and clients that a run takes, where some are missing."""

from argparse import Namespace
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import chosen
from config.load import load_experiment
from core.errors import BadInput
from core.messages import message
from core.method import SAME
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
    names: str,
    refused: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for folder, version in (("a", "3.14.6"), ("b", "3.14.7")):
        fake_python(tmp_path / folder / "python3.14t", version, free_threaded=True)
    monkeypatch.setattr(uv, "find", lambda: None)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    plan = replace(load_experiment("default"), runtimes=tuple(map(RuntimeName, names.split(","))))
    with pytest.raises(BadInput, match=refused) if refused else nullcontext():
        assert [*chosen.choose_runtimes(plan, FLAGS)[0].runtimes] == names.split(",")
    noted = "Runtime 3.14t is 3.14.7t, the newest installed release" in capsys.readouterr().err
    assert noted == ("3.14t" in names.split(","))


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
