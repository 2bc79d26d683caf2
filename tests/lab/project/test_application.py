"""What applications are, of the forms that frameworks give them."""

import sys
from pathlib import Path

import pytest

from core.messages import BadInput
from lab.project.application import find_application, inspect_application
from tests.tables import each_row

MODULE = """
import os, sys
print("noise", flush=True)

def over_wsgi(environ, start_response):
    pass

async def over_asgi(scope, receive, send):
    pass

class Flask:  # and Django, whitenoise
    def __call__(self, environ, start_response):
        pass

class Starlette:  # and FastAPI, Litestar, Quart
    async def __call__(self, scope, receive, send):
        pass

class Wrapped:  # a middleware that is no coroutine itself
    def __init__(self, app):
        self.app = app
    def __call__(self, scope, receive, send):
        return self.app(scope, receive, send)

class Aiohttp:
    def __call__(self):
        return self

def create_app(test_config=None):
    return Flask()

class Place:
    app = Starlette()

flask, starlette, wrapped, aiohttp, number = Flask(), Starlette(), Wrapped(Starlette()), Aiohttp(), 3
variable = Flask() if os.environ.get("SHOP") == "1" else None

def dies():
    os._exit(3)
"""


@each_row
def test_an_application_is_known_by_how_it_is_called(line: str, tmp_path: Path) -> None:
    name, interface, factory = (*line.split(), "", "")[:3]
    (tmp_path / "shop.py").write_text(MODULE)
    application = inspect_application(f"shop:{name}", Path(sys.executable), tmp_path, {"SHOP": "1"})
    assert (application.interface, application.factory) == (interface, bool(factory))
    assert not list(tmp_path.rglob("*.pyc"))


def test_what_cannot_be_looked_at_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(MODULE)
    for name, reason in (
        ("shop:none", r"shop has no none\. Give the application as MODULE:NAME"),
        ("shop:dies()", "exited with status 3"),
        ("none:app", r"there is no module none in .*--directory"),
        ("shop.none:app", r"there is no module shop\.none in "),
    ):
        with pytest.raises(BadInput, match=reason):
            inspect_application(name, Path(sys.executable), tmp_path, {})


@each_row
def test_an_error_in_the_project_is_told_with_file_line_and_what_to_do(line: str, tmp_path: Path) -> None:
    text, said, remedy = line.replace("\\n", "\n").split(" -> ")
    (tmp_path / "shop.py").write_text(MODULE)
    (tmp_path / "web.py").write_text(text)
    (tmp_path / "top.py").write_text("from web import app\n")
    for name in ("web:app", "top:app"):
        with pytest.raises(BadInput) as caught:
            inspect_application(name, Path(sys.executable), tmp_path, {})
        assert f"web.py, line {said}" in str(caught.value)
        assert remedy in str(caught.value)
        assert "MODULE:NAME" not in str(caught.value)


@each_row
def test_an_application_is_found_in_a_usual_file_or_by_its_framework_in_any_module(line: str, tmp_path: Path) -> None:
    place, _, name = line.replace("\\n", "\n").partition(" ->")
    file, _, text = place.partition(" ")
    (tmp_path / "my-shop").mkdir()
    (tmp_path / "my-shop/wsgi.py").write_text("app = Flask(__name__)\n")  # no name of a module
    (tmp_path / "other.py").write_text("app = 1\n")
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")
    assert find_application(tmp_path) == name.strip()
