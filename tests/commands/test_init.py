"""`runner.py init`: what it finds in a project, what it writes and what it refuses."""

import os
import re
import sys
from pathlib import Path
from shlex import split
from typing import Any

import pytest
import yaml

from analysis.significance import fewest_blocks
from commands import init as init_command
from commands import project
from commands.init import main as init
from commands.init import plan_text
from config.load import load_plan
from config.plan_options import DEFAULT_RUNTIMES
from config.run_plan import Plan
from config.user_service.service import SERVERS
from config.user_service.service_plan import user_service_plan
from core.messages import BadInput
from core.secret import revealed
from core.user_service import App
from lab.environments import environment
from lab.project import packages
from tests.config.planning import command_of, service_of
from tests.tables import each_row, table

WSGI = "def app(environ, start_response): ...\n"
ASGI = "class App:\n    async def __call__(self, scope, receive, send): ...\n\napplication = App()\n"
FLAGS = """--app app:app --server gunicorn --request 'GET /items/3' --expect-json '{"id": 3}'"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with an application; every runtime is the Python of the tests."""
    monkeypatch.setattr(project, "_python", lambda *_: Path(sys.executable))
    monkeypatch.setattr(project, "installed_packages", lambda python: {})
    (tmp_path / "app.py").write_text(WSGI)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_flags_the_plan_has_the_application_its_server_and_its_packages(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "requirements.txt").write_text("flask\n")
    assert init([]) == 0
    plan = load_plan(here / "my-service.yaml")
    app = command_of(plan)
    assert isinstance(app, App)
    assert (app.app, app.server, app.interface) == ("app:app", "gunicorn", "wsgi")
    assert app.requirements == str(here / "requirements.txt")
    assert [*map(str, service_of(plan).requests.requests)] == ["GET /"]
    assert {"Packages", "Application", "Server"} <= {line.split(":")[0] for line in capsys.readouterr().err.split("\n")}


def test_packages_of_a_pyproject_are_written_beside_the_plan_which_has_the_runtimes_that_it_accepts(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (environment, init_command):
        monkeypatch.setattr(module, "ENVIRONMENTS", here / "cache")
    monkeypatch.setattr(packages, "_read_by_uv", lambda *_: "flask==3.1.3\n")
    project = '[project]\nname = "shop"\nversion = "1"\ndependencies = ["flask>=3"]\nrequires-python = ">=3.12"\n'
    (here / "pyproject.toml").write_text(project)
    assert init(["plans/shop.yaml"]) == 0
    plan, requirements = here / "plans" / "shop.yaml", here / "plans" / "shop-requirements.txt"
    assert requirements.read_text() == "flask==3.1.3\n"
    assert requirements.stat().st_mode & 0o777 == 0o600
    assert command_of(load_plan(plan)).requirements == str(requirements)
    assert load_plan(plan).runtimes == tuple(name for name in DEFAULT_RUNTIMES if name != "3.11")
    plan.unlink()
    with pytest.raises(BadInput, match=r"shop-requirements.txt exists. .* --force"):
        init(["plans/shop.yaml"])
    assert init(["plans/shop.yaml", "--force"]) == 0


def test_a_file_that_is_there_is_only_written_over_when_asked_and_has_what_is_started_beside_the_service(
    here: Path,
) -> None:
    file = here / "shop.yaml"
    file.write_text("mine\n")
    line = f"shop.yaml {FLAGS} --with postgres+asyncpg,redis --prepare '{{python}} seed.py'"
    with pytest.raises(BadInput, match=r"shop.yaml exists. .* --force"):
        init(split(line))
    assert file.read_text() == "mine\n"
    assert init(split(f"{line} --force")) == 0
    plan = load_plan(file)
    assert (plan.name, plan.prepare) == ("shop", ("{python} seed.py",))
    assert [one.name for one in plan.beside] == ["PostgreSQL", "Redis"]


@each_row
def test_a_plan_with_secrets_is_private(here: Path, header: str, mode: int) -> None:
    os.umask(0o022)
    init(split(f"shop.yaml {FLAGS} --header '{header}'"))
    assert (here / "shop.yaml").stat().st_mode & 0o777 == mode


def test_paths_are_told_from_the_folder_of_the_plan(here: Path) -> None:
    for name in ("plans", "src"):
        (here / name).mkdir()
    (here / "src" / "app.py").write_text(WSGI)
    (here / "src" / "requirements.txt").write_text("")
    init(split("plans/shop.yaml --requirements src/requirements.txt --directory src"))
    command = command_of(load_plan(here / "plans" / "shop.yaml"))
    assert Path(command.requirements).resolve() == here / "src" / "requirements.txt"
    assert Path(command.directory).resolve() == here / "src"


WRONG = f"""\
4x.yaml -> name is 4x
shop.yaml --directory nowhere -> No application was found
shop.yaml --app app:none -> app:none cannot be imported
. -> exists
pool.yaml {FLAGS} -> pool is a name that gilscope uses itself
shop.yaml {FLAGS} --runtime native -> --runtime is native
{"x" * 300}.yaml --name x {FLAGS} -> cannot be written: File name too long
shop.yaml {FLAGS} --requirements none.txt -> none.txt, which cannot be read
shop.yaml {FLAGS} --with mongo -> --with is mongo"""


@pytest.mark.parametrize("line", WRONG.splitlines(), ids=lambda line: line[-40:])
def test_what_is_wrong_is_said_and_nothing_is_written(line: str, here: Path) -> None:
    given, _, words = line.partition(" -> ")
    with pytest.raises(BadInput, match=words):
        init(split(given))
    assert os.listdir(here) == ["app.py"]


# ---- the text of a plan ----

PARTS = table(__file__)
REQUEST = PARTS["request"]
APPS = [{"app": "shop.web:app", "server": name} for name in SERVERS]
STEPS = 4  # version, build, lock and the whole way
SERVICES: list[dict[str, Any]] = [*PARTS["services"], *APPS, *PARTS["more"]]


def made(service: dict[str, Any], folder: Path) -> tuple[str, Plan]:
    """The text of the plan for *service*, and the plan that flags alone would make."""
    asked = user_service_plan(service, folder)
    return plan_text("shop.yaml", service, service_of(asked), DEFAULT_RUNTIMES, {}), asked


def loaded(text: str, folder: Path) -> Plan:
    (folder / "shop.yaml").write_text(text)
    return load_plan(folder / "shop.yaml")


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: " ".join(map(str, service.values()))[:40])
def test_the_plan_is_the_one_that_flags_make_in_short_lines(service: dict[str, Any], tmp_path: Path) -> None:
    text, asked = made({"name": "shop", **service, "requests": [REQUEST]}, tmp_path)
    plan = loaded(text, tmp_path)
    assert plan.user_service == asked.user_service
    assert [cell.cell_id for cell in plan.cells()] == [cell.cell_id for cell in asked.cells()]
    assert plan.blocks >= fewest_blocks(STEPS) == 8
    assert plan.method.duration_s >= 1
    assert max(len(line) for line in text.splitlines() if "command:" not in line) <= 120
    assert not any(line.endswith(" ") for line in text.splitlines())
    assert text.endswith("8\n")
    starts_it = "targets" not in service
    assert ("runtimes" in yaml.safe_load(text), "NUM_API_SERVICES" in text) == (starts_it, starts_it)


@pytest.mark.parametrize("service", SERVICES[:3], ids=lambda service: " ".join(map(str, service.values()))[:40])
def test_examples_in_comments_are_accepted_where_they_are_uncommented(service: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("")
    text, _ = made({"name": "shop", **service, "requests": [REQUEST]}, tmp_path)
    text = re.sub(r"  # (?=(environment|requirements|topology|think_time): )", "  ", text)
    before, start, example = text.partition("    # - request:")
    request, _, after = example.partition("\n\n")
    uncommented = f"{start}{request}".replace("    # ", "    ")
    plan = loaded(f"{before}{uncommented}\n\n{after}", tmp_path)
    requests = service_of(plan).requests
    second = requests.requests[1]
    assert (str(second), second.weight, second.expect_status) == ("POST /items", 3, 201)
    assert revealed(command_of(plan).environment["LOG_LEVEL"]) == "warning"
    assert requests.think_time_s == 0.01
