"""What stands beside a service in flags and plans, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from config.plan import Plan
from core.errors import BadInput
from tests.config.planning import planned


def in_yaml(folder: Path, beside: str) -> Plan:
    """The plan with that value of `beside`."""
    (folder / "plan.yaml").write_text(f"rows: [{{system: 2}}]\nbeside: {beside}\n")
    return planned("--plan", str(folder / "plan.yaml"))


def test_databases_are_known_by_name_with_the_driver_of_sqlalchemy_and_kept_with_the_plan() -> None:
    plan = planned("--system", "2", "--with", "postgres+asyncpg, redis", "--prepare", "psql -f a", "--prepare", "b")
    assert [one.name for one in plan.beside] == ["PostgreSQL", "Redis"]
    values = {"host": "h", "port": "1", "password": "p"}
    assert plan.beside[0].variables(values)["DATABASE_URL"] == "postgresql+asyncpg://postgres:p@h:1/postgres"
    assert plan.beside[1].variables(values)["REDIS_URL"] == "redis://default:p@h:1/0"
    again = Plan.from_json(plan.to_json())
    assert (again.beside, again.prepare) == (plan.beside, ("psql -f a", "b"))


def test_an_entry_changes_a_known_program_or_is_one_of_its_own(tmp_path: Path) -> None:
    (known,) = in_yaml(tmp_path, "{name: postgres, pin: 0-1, environment: {DSN: 'x:{port}'}}").beside
    assert (known.name, known.pin, known.environment["DSN"], known.stop) == (
        "PostgreSQL",
        (0, 1),
        "x:{port}",
        "SIGQUIT",
    )
    assert known.environment["PGHOST"] == "{host}"
    (own,) = in_yaml(tmp_path, "[{name: search, command: './search {port}', start_deadline: 2min}]").beside
    assert (own.name, own.command, own.ready, own.start_deadline_s) == ("search", "./search {port}", "port", 120.0)


REFUSED: list[tuple[str, str]] = [
    ("mysql", "it must be one of postgres, valkey, redis, postgres+asyncpg"),
    ("redis+asyncpg", "it must be one of postgres"),
    ("{command: ./x}", "a name and a command"),
    ("{name: postgres, port: 3}", "unknown key 'port'"),
    ("{name: x, command: './x {prot}'}", "no placeholders other than {host}, {port}"),
    ("{name: x, command: './x {password}'}", "no placeholders other than {host}, {port}"),
    ('{name: x, command: "./x \'a"}', "balanced quotes"),
    ("{name: x, command: 'x postgres://me:hunter2@h/'}", "without secrets"),
    ("{name: x, command: 'x', config: '{env:TOKEN}'}", "without secrets"),
    (
        "{name: x, command: 'x', environment: {A: b}}",
        "environment variables whose values contain the started program's address",
    ),
]


@pytest.mark.parametrize(("beside", "problem"), REFUSED)
def test_what_is_wrong_is_named(tmp_path: Path, beside: str, problem: str) -> None:
    with pytest.raises(BadInput) as refused:
        in_yaml(tmp_path, beside)
    assert problem in str(refused.value)
    assert "hunter2" not in str(refused.value)


ELSEWHERE: list[tuple[list[str], str]] = [
    (["--target", "http://127.0.0.1:1/"], "a service that already runs"),
    (
        ["--system", "4", "--hosts", "HOSTS", "--services-on", "a", "--clients-on", "a", "--duration", "1"],
        "this machine",
    ),
]


@pytest.mark.parametrize(("flags", "problem"), ELSEWHERE)
def test_it_is_refused_where_services_are_not_started_on_this_machine(
    tmp_path: Path, flags: list[str], problem: str
) -> None:
    hosts: Any = tmp_path / "hosts.yaml"
    hosts.write_text("a: {via: here, address: 10.0.0.1}\n")
    with pytest.raises(BadInput, match=problem):
        planned(*(str(hosts) if word == "HOSTS" else word for word in flags), "--with", "postgres")
