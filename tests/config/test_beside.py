"""What stands beside a service in flags and plans; refused.txt has what is refused."""

from pathlib import Path

from config.run_plan import Plan
from tests.config.planning import planned, stored


def in_yaml(folder: Path, beside: str) -> Plan:
    """The plan with that value of `beside`."""
    (folder / "plan.yaml").write_text(f"rows: [{{system: 2}}]\nbeside: {beside}\n")
    return planned(f"--plan {folder}/plan.yaml")


def test_databases_are_known_by_name_with_the_driver_of_sqlalchemy_and_kept_with_the_plan() -> None:
    plan = planned("--system 2 --with 'postgres+asyncpg, redis' --prepare 'psql -f a' --prepare b")
    assert [one.name for one in plan.beside] == ["PostgreSQL", "Redis"]
    values = {"host": "h", "port": "1", "password": "p"}
    assert plan.beside[0].variables(values)["DATABASE_URL"] == "postgresql+asyncpg://postgres:p@h:1/postgres"
    assert plan.beside[1].variables(values)["REDIS_URL"] == "redis://default:p@h:1/0"
    again = stored(plan)
    assert (again.beside, again.prepare) == (plan.beside, ("psql -f a", "b"))


def test_an_entry_changes_a_known_program_or_is_one_of_its_own(tmp_path: Path) -> None:
    (known,) = in_yaml(tmp_path, "{name: postgres, pin: 0-1, environment: {DSN: 'x:{port}'}}").beside
    assert (known.name, known.pin, known.stop) == ("PostgreSQL", (0, 1), "SIGQUIT")
    assert (known.environment["DSN"], known.environment["PGHOST"]) == ("x:{port}", "{host}")
    (own,) = in_yaml(tmp_path, "[{name: search, command: './search {port}', start_deadline: 2min}]").beside
    assert (own.name, own.command, own.ready, own.start_deadline_s) == ("search", "./search {port}", "port", 120.0)
