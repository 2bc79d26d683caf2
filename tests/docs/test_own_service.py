"""docs/own-service.md says what the code says: places, servers, keys."""

from pathlib import Path

import pytest

from config.user_service.requests import load_requests
from config.user_service.servers import SERVERS
from config.user_service.service import PLACES
from tests.docs.pages import DOCS, blocks, named, rows

PAGE = DOCS / "own-service.md"


def test_places_of_a_command_are_documented() -> None:
    assert sorted(named(PAGE, "A command")) == sorted(f"{{{name}}}" for name in PLACES)


def test_servers_are_documented_with_the_page_that_their_options_come_from() -> None:
    shown = {row[0].strip("`"): (row[1], row[4]) for row in rows(PAGE, "An application: WSGI or ASGI")}
    assert shown == {name: (", ".join(one.interfaces), one.source) for name, one in SERVERS.items()}
    workers = {row[0].strip("`") for row in rows(PAGE, "An application: WSGI or ASGI") if row[2] == "yes"}
    assert workers == {name for name, one in SERVERS.items() if "{workers}" in one.command}


def test_the_example_of_requests_is_read(tmp_path: Path) -> None:
    (text,) = [text for text in blocks(PAGE, "yaml") if text.startswith("# asked.yml")]
    file = tmp_path / "asked.yml"
    file.write_text(text)
    plan = load_requests(file)
    assert [str(one) for one in plan.requests] == ["GET /items/3", "POST /items"]
    assert plan.think_time_s == pytest.approx(0.001)


def test_the_example_of_sessions_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = [text for text in blocks(PAGE, "yaml") if text.startswith("# session.yml")]
    monkeypatch.setenv("SHOP_PASSWORD", "open")
    file = tmp_path / "session.yml"
    file.write_text(text)
    plan = load_requests(file)
    assert [(one.first, list(one.save)) for one in plan.requests] == [
        (True, ["token"]),
        (False, ["order"]),
        (False, []),
    ]
