"""What an environment is made of: whatever has a say in it changes its folder."""

import subprocess
from pathlib import Path

import pytest

from core.errors import BadInput
from lab.environments import environment as environments
from lab.environments.environment import Recipe
from lab.python.interpreters import Interpreter
from tests.lab.wheels import write_project


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    file = tmp_path / "requirements.txt"
    file.write_text("some==1.0\n")
    return file


def recipe(interpreter: Interpreter, file: Path) -> Recipe:
    return Recipe(interpreter=interpreter, requirements_file=file, hashed=False)


NAMED = """\
-r inner.txt -> inner.txt
-c inner.txt -> inner.txt
-r middle.txt -> inner.txt
-c middle.txt -> inner.txt
shop @ file://{folder}/shop-1.0-py3-none-any.whl -> shop-1.0-py3-none-any.whl"""


@pytest.mark.parametrize("line", NAMED.splitlines())
def test_a_file_that_the_requirements_name_has_a_say(interpreter: Interpreter, requirements: Path, line: str) -> None:
    """Also one that names itself as constraints."""
    named, changed = line.format(folder=requirements.parent).split(" -> ")
    requirements.write_text(f"some\n{named}\n")
    requirements.with_name("middle.txt").write_text("-c inner.txt\n")
    places = []
    for version in ("1.0", "1.0", "2.0"):
        requirements.with_name(changed).write_text(f"other=={version}\n-c inner.txt\n")
        places.append(recipe(interpreter, requirements).place)
    assert places[0] == places[1] != places[2]


def test_a_comment_has_no_say(interpreter: Interpreter, requirements: Path) -> None:
    now = recipe(interpreter, requirements)
    requirements.write_text("# what the shop needs\nsome==1.0  # pinned\n")
    assert recipe(interpreter, requirements).place == now.place


def test_a_wheel_has_a_say_and_one_that_is_missing_is_bad_input(interpreter: Interpreter, tmp_path: Path) -> None:
    places = []

    def place() -> Path:
        return Recipe(interpreter=interpreter, wheels=(tmp_path / "some.whl",)).place

    with pytest.raises(BadInput, match=r"some\.whl cannot be read"):
        place()
    for content in (b"1", b"1", b"2"):
        (tmp_path / "some.whl").write_bytes(content)
        places.append(place())
    assert places[0] == places[1] != places[2]


def test_a_folder_that_changed_is_installed_beside_the_one_in_use(
    tmp_path: Path, interpreter: Interpreter, requirements: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path / "runtimes")
    monkeypatch.setenv("UV_OFFLINE", "1")
    shop = tmp_path / "shop"
    write_project(shop, value=1)
    requirements.write_text(f"{shop}\n")

    def python() -> Path:
        return environments.environment(recipe(interpreter, requirements))

    def value(python: Path) -> str:
        return subprocess.check_output([python, "-I", "-c", "import shop; print(shop.VALUE)"], text=True).strip()

    first = python()
    assert (python(), value(first)) == (first, "1")
    (shop / "shop.py").write_text("VALUE = 2\n")
    assert (value(first), value(python())) == ("1", "2")
    assert value(first) == "1"
