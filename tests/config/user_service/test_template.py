"""Answers to the questions of `init`, and the plans that are made of them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from config.load import load_plan
from config.plan import Plan
from config.plan_options import DEFAULT_RUNTIMES
from config.user_service.options import KEYS
from config.user_service.plan import user_service_plan
from config.user_service.servers import SERVERS
from config.user_service.template import plan_text, requests_from, start_from
from core.secret import revealed
from reports.statistics.significance import fewest_blocks

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
    assert start_from(answer) == start


@pytest.mark.parametrize(("answer", "request_"), ASKED.items())
def test_a_request_is_followed_by_what_it_answers(answer: str, request_: dict[str, str]) -> None:
    assert requests_from(answer) == [request_]
