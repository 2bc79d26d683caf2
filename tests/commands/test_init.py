"""`runner.py init`: three questions, or flags; what it writes and what it refuses."""

import io
import os
import sys
from pathlib import Path
from shlex import split
from typing import Any

import pytest
import yaml

from commands.init import main as init
from commands.init import parse_requests, parse_start, plan_text
from config.load import load_plan
from config.plan import Plan
from config.plan_options import DEFAULT_RUNTIMES
from config.user_service.options import KEYS
from config.user_service.plan import user_service_plan
from config.user_service.servers import SERVERS
from core.errors import BadInput
from core.secret import revealed
from core.user_service import Command
from reports.statistics.significance import fewest_blocks

FLAGS = """--app app:app --server gunicorn --request 'GET /items/3' --expect-json '{"id": 3}'"""


class Typed(io.StringIO):
    """What somebody types on a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one, and no terminal."""
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command_of(plan: Plan) -> Command:
    assert plan.user_service is not None
    assert plan.user_service.command is not None
    return plan.user_service.command


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", Typed("".join(f"{line}\n" for line in lines)))


def test_flags_alone_write_a_plan_without_asking(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert init(split(f"shop.yaml {FLAGS} --runtime 3.14,3.14t")) == 0
    printed = capsys.readouterr()
    assert printed.out == "shop.yaml\n"
    assert "python runner.py --plan shop.yaml" in printed.err
    plan = load_plan(here / "shop.yaml")
    assert plan.user_service is not None
    assert (plan.user_service.name, plan.runtimes) == ("shop", ("3.14", "3.14t"))
    assert str(plan.user_service.requests.requests[0]) == "GET /items/3"


def test_a_file_that_is_there_is_only_written_over_when_asked(here: Path) -> None:
    file = here / "shop.yaml"
    file.write_text("mine\n")
    with pytest.raises(BadInput, match=r"shop.yaml exists. .* --force"):
        init(split(f"shop.yaml {FLAGS}"))
    assert file.read_text() == "mine\n"
    assert init(split(f"shop.yaml {FLAGS} --force")) == 0
    assert load_plan(file).name == "shop"


@pytest.mark.parametrize(("header", "mode"), [("Authorization: Bearer s3cret", 0o600), ("Accept: */*", 0o644)])
def test_a_plan_with_secrets_is_private(here: Path, header: str, mode: int) -> None:
    os.umask(0o022)
    init(split(f"shop.yaml {FLAGS} --header '{header}'"))
    assert (here / "shop.yaml").stat().st_mode & 0o777 == mode


def test_three_answers_make_the_same_plan_as_flags(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "requirements.txt").write_text("flask\n")
    init(split(f"flags.yaml {FLAGS} --expect-status 200 --requirements requirements.txt --name shop"))
    typed(monkeypatch, "app:app gunicorn", 'GET /items/3 -> 200 {"id": 3}', "requirements.txt")
    init(["asked.yaml", "--name", "shop"])
    by_flags, by_answers = ((here / name).read_text().splitlines() for name in ("flags.yaml", "asked.yaml"))
    assert by_answers[3:] == by_flags[3:]


@pytest.mark.parametrize(
    ("there", "answer", "taken"),
    [
        (True, "", True),
        (True, "none", False),
        (False, "", False),
    ],
)
def test_requirements_that_are_there_are_the_usual_answer_and_none_is_one_too(
    there: bool,
    answer: str,
    taken: bool,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if there:
        (here / "requirements.txt").write_text("flask\n")
    typed(monkeypatch, answer)
    init(split(f"shop.yaml {FLAGS}"))
    requirements = command_of(load_plan(here / "shop.yaml")).requirements
    assert requirements == (str(here / "requirements.txt") if taken else "")
    assert f"[{'requirements.txt' if there else 'none'}]\n> " in capsys.readouterr().err


def test_an_answer_that_cannot_be_meant_is_asked_for_again(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    starts, requests = ("", "app:app", "app:app nginx", "app:app gunicorn"), ("", "items", "/items/3 -> {", "/items/3")
    typed(monkeypatch, *starts, *requests, "no", "")
    assert init([]) == 0
    asked = capsys.readouterr().err
    assert "server is nginx" in asked
    questions = ("How is the service started?", "Which request is sent", "Which requirements")
    assert [asked.count(question) for question in questions] == [4, 4, 2]
    assert load_plan(here / "my-service.yaml").user_service is not None


def test_input_that_ends_writes_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "app:app gunicorn")
    with pytest.raises(BadInput, match="The input ended"):
        init([])
    assert os.listdir(here) == []


def test_paths_are_told_from_the_folder_of_the_plan(here: Path) -> None:
    for name in ("plans", "src"):
        (here / name).mkdir()
    (here / "src" / "requirements.txt").write_text("")
    init(split(f"plans/shop.yaml {FLAGS} --requirements src/requirements.txt --directory src"))
    command = command_of(load_plan(here / "plans" / "shop.yaml"))
    assert Path(command.requirements).resolve() == here / "src" / "requirements.txt"
    assert Path(command.directory).resolve() == here / "src"


NO_ANSWER_CAN_MEND = {
    "4x.yaml": "name is 4x",
    "shop.yaml --service-port 99999": "port is 99999",
    "shop.yaml --app app:app": "server is missing",
    "shop.yaml --interface asgi --server waitress": "waitress does not support asgi",
    "shop.yaml --topology 2": "topology is 2",
    "shop.yaml --target ftp://x": "service target is ftp://x",
    "shop.yaml --runtime ''": "Runtime ''",
    "nowhere/shop.yaml": "nowhere/shop.yaml cannot be written",
    ".": "cannot be written: this path is a folder",
}
WRONG = {
    "": "init cannot ask questions",
    "--app app:app --server gunicorn": "init cannot ask questions",
    "--request 'GET /items/3'": "init cannot ask questions",
    f"pool.yaml {FLAGS}": "pool is a name that gilscope uses itself",
    f"shop.yaml {FLAGS} --runtime native": "--runtime is native",
    f"{'x' * 300}.yaml --name x {FLAGS}": "cannot be written: File name too long",
    f"shop.yaml {FLAGS} --requirements none.txt": "none.txt, which cannot be read",
    "shop.yaml --service-command '{python} app.py' --request /": r"must contain \{port\} or \{socket\}",
    "shop.yaml --nope": "--nope",
}


@pytest.mark.parametrize(
    ("line", "words", "answers"),
    [
        *((line, words, ["app:app gunicorn", "GET / -> 200", ""] * 3) for line, words in NO_ANSWER_CAN_MEND.items()),
        *((line, words, []) for line, words in WRONG.items()),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_wrong_is_said_before_anything_is_asked_and_nothing_is_written(
    line: str,
    words: str,
    answers: list[str],
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if answers:
        typed(monkeypatch, *answers)
    with pytest.raises(BadInput, match=words):
        init(split(line))
    assert capsys.readouterr().err == ""
    assert os.listdir(here) == []


@pytest.mark.parametrize("flags", ["--server gunicorn", "--interface wsgi", "--topology 2x1"])
def test_flags_that_say_a_part_leave_the_rest_to_the_questions(
    here: Path, monkeypatch: pytest.MonkeyPatch, flags: str
) -> None:
    typed(monkeypatch, "app:app gunicorn", "GET / -> 200", "")
    assert init(split(f"shop.yaml {flags}")) == 0
    assert load_plan(here / "shop.yaml").user_service is not None


# ---- the text of a plan ----

REQUEST = {"request": "GET /items/3", "expect_status": "200", "expect_json": '{"id": 3}'}
COMMAND = "{python} -m myapp --port {port}"
APPS = [{"app": "shop.web:app", "server": name} for name in SERVERS]
STEPS = 4  # version, build, lock and the whole way
SERVICES: list[dict[str, Any]] = [
    {"command": COMMAND},
    {"command": "{python} serve.py --socket {socket} --workers {workers} --threads {threads}", "topology": "2x1,1x2"},
    *APPS,
    {"targets": {"old": "http://127.0.0.1:8000/", "new": "unix:/run/new.sock"}},
    {"command": COMMAND, "environment": {"A": "yes", "B": "#: '"}, "port": "8000", "think_time": "10ms"},
]


def made(service: dict[str, Any], folder: Path, runtimes: tuple[str, ...] = DEFAULT_RUNTIMES) -> tuple[str, Plan]:
    """The text of the plan for *service*, and the plan that flags alone would make."""
    asked = user_service_plan(service, folder)
    assert asked.user_service is not None
    return plan_text("shop.yaml", service, asked.user_service, runtimes), asked


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
    for key in ("environment", "requirements", "topology", "think_time"):
        text = text.replace(f"  # {key}: ", f"  {key}: ")
    before, _, example = text.partition("    # - request:")
    lines = example.splitlines()
    whole = [f"    - request:{lines[0]}", *(line.replace("    # ", "    ", 1) for line in lines[1:5]), *lines[5:]]
    plan = loaded(before + "\n".join(whole) + "\n", tmp_path)
    described = plan.user_service
    assert described is not None
    assert described.command is not None
    second = described.requests.requests[1]
    assert (str(second), second.weight, second.expect_status) == ("POST /items", 3, 201)
    assert revealed(described.command.environment["LOG_LEVEL"]) == "warning"
    assert described.requests.think_time_s == 0.01


def test_every_key_of_a_service_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "asked.yaml").write_text("- request: GET /\n")
    service = {"name": "shop", "app": "a:b", "server": "granian", "interface": "wsgi", "protocol": "http"}
    service |= {"directory": ".", "requests": "asked.yaml"}
    text, asked = made(service, tmp_path)
    assert loaded(text, tmp_path).user_service == asked.user_service
    assert set(yaml.safe_load(text)["service"]) == set(service) <= set(KEYS)


ANSWERS = {
    " shop.web:app   gunicorn ": {"app": "shop.web:app", "server": "gunicorn"},
    "shop:app": {"app": "shop:app"},
    f" {COMMAND} ": {"command": COMMAND},
    "python -m myapp": {"command": "python -m myapp"},
    "": {},
}
ASKED = {
    'GET /items/3 -> 200 {"id": 3}': REQUEST,
    "/items/3": {"request": "/items/3"},
    "DELETE /items/3->204": {"request": "DELETE /items/3", "expect_status": "204"},
    'GET / -> {"a": "->"}': {"request": "GET /", "expect_json": '{"a": "->"}'},
    "": {},
}


@pytest.mark.parametrize(("answer", "start"), ANSWERS.items())
def test_how_it_is_started_is_an_application_or_a_command(answer: str, start: dict[str, str]) -> None:
    assert parse_start(answer) == start


@pytest.mark.parametrize(("answer", "request_"), ASKED.items())
def test_a_request_is_followed_by_what_it_answers(answer: str, request_: dict[str, str]) -> None:
    assert parse_requests(answer) == [request_]
