"""Environments: made once of what has a say in them, found only when complete, removed when nothing uses them."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import time

import pytest

from core.messages import BadInput, Value, as_message
from lab import processes
from lab.environments import environment as environments
from lab.environments.environment import EnvironmentFailed, Recipe, environment, installed_packages
from lab.python.interpreters import Interpreter
from tests.conftest import runtime_or_skip
from tests.lab.python.fake_pythons import pretend_uv, script
from tests.lab.wheels import write_project, write_wheel
from tests.tables import each_row

FAKE_UV = """
echo "$1 $2" >>"$LOG"
case "$1" in
    venv) for place; do :; done; mkdir -p "$place/bin"; ln -s "$REAL" "$place/bin/python" ;;
    pip) [ ! -e "$LOG.fail" ] || { echo 'error: two lines' >&2; echo '  cause: no such package.' >&2; exit 1; } ;;
esac
"""


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    file = tmp_path / "requirements-some.txt"
    file.write_text("some==1.0 --hash=sha256:00\n")
    return file


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path / "runtimes")


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, interpreter: Interpreter) -> Path:
    """Puts a uv in place that only pretends, and notes each call in this file."""
    monkeypatch.setenv("REAL", str(interpreter.executable))
    return pretend_uv(monkeypatch, tmp_path, FAKE_UV)


def made(log: Path) -> int:
    """How many environments the pretended uv has made."""
    return log.read_text().count("venv") if log.exists() else 0


def aged(path: Path, *, days: float) -> None:
    """Let a file or folder seem to have been used last so many days ago."""
    os.utime(path, (time() - days * 86_400,) * 2)


def printed(*command: str | Path) -> list[str]:
    """The words that it prints."""
    return subprocess.check_output(command, text=True).split()


@pytest.fixture
def recipe(requirements: Path, interpreter: Interpreter) -> Recipe:
    return Recipe(interpreter=interpreter, requirements_file=requirements)


Make = Callable[[], Path]


@pytest.fixture
def make(log: Path, recipe: Recipe) -> Make:
    """Asks for the environment of those requirements; its folder."""
    return lambda: environment(replace(recipe)).parent.parent


@each_row
def test_an_environment_of_each_runtime_has_its_packages_their_byte_code_and_a_script_that_finds_its_interpreter(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interpreter = runtime_or_skip(name).interpreter
    monkeypatch.delenv("UV_COMPILE_BYTECODE", raising=False)
    python = environment(Recipe(interpreter=interpreter, requirements_file=write_wheel(tmp_path)))
    code = "import tiny_thing, sys; print(tiny_thing.VALUE, tiny_thing.__spec__.cached, sys.prefix)"
    value, cached, prefix = printed(python, "-I", "-B", "-c", code)
    assert (value, Path(prefix)) == ("7", python.parent.parent)
    assert Path(cached).is_file()
    assert installed_packages(python)["tiny-thing"] == "1.2"
    value, prefix = printed(python.with_name("tiny-serve"))
    assert (value, Path(prefix)) == ("7", python.parent.parent)


def test_a_file_without_hashes_is_refused_in_the_tools_own_words_but_a_users_or_a_wheel_alone_is_installed(
    tmp_path: Path, interpreter: Interpreter
) -> None:
    unhashed = write_wheel(tmp_path)
    unhashed.write_text(unhashed.read_text().partition(" --hash")[0] + "\n")
    recipe = Recipe(interpreter=interpreter, requirements_file=unhashed)
    with pytest.raises(EnvironmentFailed, match="hash"):
        environment(recipe)
    python = environment(replace(recipe, hashed=False))
    assert installed_packages(python)["tiny-thing"] == "1.2"
    python = environment(Recipe(interpreter=interpreter, wheels=(*tmp_path.glob("*.whl"),)))
    assert installed_packages(python) == {"tiny-thing": "1.2"}


def test_a_ready_environment_is_known_without_a_process_and_as_good_as_new_and_another_build_makes_it_anew(
    log: Path, make: Make, tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, begin = make(), time()
    assert (first.parent, first.name.startswith(f"{recipe.interpreter.name}-")) == (tmp_path / "runtimes", True)
    aged(first, days=99.0)
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "run", None)
        patched.setattr(subprocess, "Popen", None)
        assert (make(), made(log)) == (first, 1)
    assert first.stat().st_mtime >= begin - 1.0
    facts = {**recipe.interpreter.facts, "build": "(main, another day)"}
    environment(replace(recipe, interpreter=replace(recipe.interpreter, facts=facts)))
    assert made(log) == 2


def test_one_that_another_run_made_meanwhile_is_used_and_ours_is_dropped(
    log: Path, make: Make, tmp_path: Path, recipe: Recipe
) -> None:
    script(tmp_path / "uv", f'mkdir -p "{recipe.place}/bin"; touch "{recipe.place}/theirs"\n{FAKE_UV}')
    assert make() == recipe.place
    assert (recipe.place / "theirs").exists()
    assert [*recipe.place.parent.iterdir()] == [recipe.place]


def test_what_a_killed_run_left_goes_after_a_day_and_what_nothing_used_after_30_when_another_is_made(
    log: Path, make: Make, tmp_path: Path
) -> None:
    """What a killed run left is never found. A file of requirements stays."""
    folder = tmp_path / "runtimes"
    for name, days in {"new-1": 1.1, "new-2": 0.9, "3.14-old": 30.1, "3.14-recent": 29.9}.items():
        (folder / name / "bin").mkdir(parents=True)
        aged(folder / name, days=days)
    (folder / "needs.txt-1.txt").touch()
    aged(folder / "needs.txt-1.txt", days=99.0)
    place = make()
    assert made(log) == 1
    assert {path.name for path in folder.iterdir()} == {place.name, "new-2", "3.14-recent", "needs.txt-1.txt"}


def test_a_failure_names_runtime_reason_and_the_users_file_and_leaves_nothing(
    log: Path, make: Make, recipe: Recipe, tmp_path: Path
) -> None:
    """Not the file that was made of the user's."""
    place = make()
    (tmp_path / "needs.txt").write_text("flask\n")
    made_of_it = environments.requirements_file(str(tmp_path / "needs.txt"), ["gunicorn"])
    again = environments.requirements_file(made_of_it, ["waitress"])
    project = environments.requirements_file("", ["flask"], "pyproject.toml")
    before = {*place.parent.iterdir()}
    log.with_name("log.fail").touch()
    for file, name in ((made_of_it, "needs.txt"), (again, "needs.txt"), (project, "pyproject.toml")):
        reason = f"packages of {name} could not be installed for runtime {recipe.interpreter.name}: no such package. Us"
        with pytest.raises(EnvironmentFailed, match=reason):
            environment(replace(recipe, requirements_file=Path(file), hashed=False))
    assert {*place.parent.iterdir()} == before
    assert (make(), made(log)) == (place, 4)  # three of them failed


def test_an_installation_that_takes_long_prints_the_newest_line_of_its_tool(
    log: Path, recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "Installing the packages of requirements-some.txt for runtime"
    script(tmp_path / "uv", 'echo "Building grpcio" >&2; until [ -e "$LOG.told" ]; do sleep 0.02; done; exit 1')
    monkeypatch.setattr(processes, "WATCH_S", 0.05)
    notes: list[str] = []

    def note(text: str, **args: Value) -> None:
        notes.append(str(as_message(text, args)))
        if args["line"] == "Building grpcio":
            (tmp_path / "log.told").touch()

    with pytest.raises(EnvironmentFailed):
        environment(recipe, note)
    assert notes[-1].startswith(told)
    assert notes[-1].endswith(" s of at most 600 s: Building grpcio")


def test_without_a_uv_that_may_be_executed_or_a_folder_it_says_why_and_what_to_do(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runtimes").touch()
    with pytest.raises(EnvironmentFailed, match=r"could not be created in .*runtimes"):
        make()
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path / "other")
    (tmp_path / "uv").write_text("#!/no/such/shell\n")
    with pytest.raises(EnvironmentFailed, match=r"uv could not be run \(No such file"):
        make()
    monkeypatch.undo()
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path / "other")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "uv").chmod(0o777)
    with pytest.raises(EnvironmentFailed, match=r"because other users can write to .*/uv\. Install uv whe"):
        make()
    (tmp_path / "uv").unlink()
    with pytest.raises(EnvironmentFailed, match=r"uv was not found\. Install uv where"):
        make()


def test_a_users_packages_and_a_server_are_asked_for_in_one_private_file_to_which_hashes_need_the_servers_too(
    tmp_path: Path, requirements: Path
) -> None:
    """It may have the token of an index."""
    asked = tmp_path / "requirements.txt"
    asked.write_text("--index-url https://me:token@index.example/simple\nflask==3.1.3  # web\n")
    for _ in range(2):
        file = Path(environments.requirements_file(str(asked), ["waitress==3.0.2"]))
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.read_text().splitlines()[1:] == ["flask==3.1.3", "waitress==3.0.2"]
        file.chmod(0o644)  # as an earlier version made it
    assert len([*(tmp_path / "runtimes").iterdir()]) == 1
    assert environments.requirements_file(str(asked), ["flask==1"]) == str(asked)
    assert environments.requirements_file("", []) == ""
    with pytest.raises(EnvironmentFailed, match=r"Add waitress==3[.]0[.]2 to it, with hashes"):
        environments.requirements_file(str(requirements), ["waitress==3.0.2"])


# ---- what has a say in an environment -----------------------------------------------------------------------------


@each_row
def test_a_file_that_the_requirements_name_has_a_say(recipe: Recipe, requirements: Path, line: str) -> None:
    """Also one that names itself as constraints."""
    named, changed = line.format(folder=requirements.parent).split(" -> ")
    requirements.write_text(f"some\n{named}\n")
    requirements.with_name("middle.txt").write_text("-c inner.txt\n")
    places = []
    for version in ("1.0", "1.0", "2.0"):
        requirements.with_name(changed).write_text(f"other=={version}\n-c inner.txt\n")
        places.append(replace(recipe).place)
    assert places[0] == places[1] != places[2]


def test_a_comment_has_no_say(recipe: Recipe, requirements: Path) -> None:
    place = replace(recipe).place
    requirements.write_text("# what the shop needs\nsome==1.0 --hash=sha256:00  # pinned\n")
    assert replace(recipe).place == place


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
    monkeypatch.setenv("UV_OFFLINE", "1")
    shop = tmp_path / "shop"
    write_project(shop, value=1)
    requirements.write_text(f"{shop}\n")

    def python() -> Path:
        return environment(Recipe(interpreter=interpreter, requirements_file=requirements, hashed=False))

    def value(python: Path) -> list[str]:
        return printed(python, "-I", "-c", "import shop; print(shop.VALUE)")

    first = python()
    assert (python(), value(first)) == (first, ["1"])
    (shop / "shop.py").write_text("VALUE = 2\n")
    assert (value(first), value(python())) == (["1"], ["2"])
    assert value(first) == ["1"]
