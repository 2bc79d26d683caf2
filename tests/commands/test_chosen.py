"""Clients where native ones are planned and not built."""

from collections.abc import Mapping
from typing import Any

import pytest

from commands import chosen
from commands.output import Output
from config.load import load_experiment
from core.messages import message
from core.method import SAME
from core.runtime import NATIVE
from lab.native import programs

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
    plan = chosen._with_clients(load_experiment("evidence"), flags, Output())
    assert plan.method.client_runtime == clients
    assert ("build it with: gilscope native" in capsys.readouterr().err) == (clients == SAME)
