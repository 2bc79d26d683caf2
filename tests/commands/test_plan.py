"""The table of `runner.py plan`: it fits the terminal, and no text in it is broken."""

import pytest
from rich.cells import cell_len

from commands.output import Output
from commands.plan import Column, columns, fitting
from commands.plan import main as plan_command
from config.load import load_experiment
from lab.machine import host
from tests.conftest import runtime_or_skip

SYSTEMS = Column(head="system", texts=["4"])
SOCKETS = Column(head="NUM_MULTI_SOCKET", texts=["10"], needless=3)
IDS = Column(head="cell", texts=["4-3.14t+gil-0123abcd"], needless=1)


@pytest.mark.parametrize(
    ("width", "heads"),
    [
        (80, ["cell", "system", "NUM_MULTI_SOCKET"]),
        (38, ["cell", "system", "NUM_\nMULTI_\nSOCKET"]),
        (16, ["system", "NUM_\nMULTI_\nSOCKET"]),
        (6, ["system"]),
    ],
)
def test_heads_are_broken_before_columns_are_left_out(width: int, heads: list[str]) -> None:
    assert [column.head for column in fitting([IDS, SYSTEMS, SOCKETS], width)] == heads


@pytest.mark.parametrize("name", ["record", "league", "echo", "topology", "memory"])
def test_the_experiments_fit_80_columns_with_whole_numbers_and_runtimes(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for runtime in ("3.14", "3.14t+gil"):
        runtime_or_skip(runtime)
    plan = load_experiment(name)
    assert plan_command(["--experiment", name, "--runtime", "3.14,3.14t+gil", "--scale", "0.5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(cell_len(line) <= 80 for line in lines)
    wanted = {text for column in columns(plan, 2, Output()) if column.head == "runtime" for text in column.texts}
    assert {"3.14t+gil"} & wanted <= {word for line in lines for word in line.split()}


@pytest.mark.parametrize(("cores", "advice"), [(2, "leave it to the kernel"), (8, "--pin services=0-5 clients=6-7 ")])
def test_the_plan_of_evidence_says_where_services_and_clients_should_run(
    cores: int, advice: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime_or_skip("3.14")
    monkeypatch.setattr(host, "facts", lambda: {"cores_usable": cores})
    given = ["--experiment", "evidence", "--runtime", "3.14"]
    assert plan_command(given) == 0
    assert advice in capsys.readouterr().out
    assert plan_command([*given, "--pin", "services=0"]) == 0
    assert "Placement" not in capsys.readouterr().out
