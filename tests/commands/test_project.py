"""What is found in a project takes the place of flags that were left out, and is said."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from commands import project
from commands.project import complete_from_project
from config.flags import plan_from
from core.messages import BadInput, Message, as_message, message
from lab.project import packages
from lab.python import interpreters
from tests.config.planning import parsed
from tests.tables import each_row

PYTHON = project._python  # in_a_project() replaces it
MODULE = "def wsgi(environ, start_response): ...\n\nclass Other: ...\n\nother = Other()\n"


@pytest.fixture(autouse=True)
def in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder has an application and no packages; every runtime is the Python of the tests."""
    (tmp_path / "shop.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(project, "_python", lambda *_: Path(sys.executable))


def found(line: str) -> tuple[dict[str, Any], list[str]]:
    """The flags, filled in, and what was said."""
    notes: list[str] = []
    filled = complete_from_project(parsed(line), lambda text, **args: notes.append(str(as_message(text, args))))
    return filled, notes


def with_runtimes(names: Iterable[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """As if these were installed; what is asked of uv goes into the list, and cannot be had."""
    asked: list[str] = []

    def install(names: Iterable[str]) -> list[Message]:
        asked.extend(names)
        return [message("no network") for _ in asked]

    monkeypatch.setattr(interpreters, "find", lambda wanted, given: dict.fromkeys(names))
    monkeypatch.setattr(interpreters, "install", install)
    return asked


@each_row
def test_both_builds_of_one_version_are_compared_and_a_missing_one_is_installed(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, _, expected = line.partition(" -> ")
    names, _, flags = given.partition(" | ")
    asked = with_runtimes(names.split(), monkeypatch)
    filled, notes = found(f"--service-command '{{python}} {{port}}' {flags}")
    assert [filled["runtime"], *asked] == expected.split()
    assert any("uv installs" in note for note in notes) == bool(asked)


@each_row
def test_the_free_threaded_build_with_its_gil_is_measured_where_time_allows(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, _, why = line.partition(" ->")
    with_runtimes(("3.14", "3.14t"), monkeypatch)
    filled, notes = found(f"--service-command '{{python}} {{port}} {{threads}}' {words}")
    assert filled["runtime"] == ("3.14,3.14t" if why else "3.14,3.14t+gil,3.14t")
    (told,) = (note for note in notes if note.startswith("Runtimes: "))
    assert ("3.14t+gil is left out, because " in told) == bool(why)
    assert why.strip() in told


def test_threads_are_no_fault_of_a_server_whose_interface_is_not_known_yet(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("")
    threads = "--server granian --topology 1x8 --runtime 3.14"
    filled, _ = found(f"--app shop:wsgi {threads}")
    assert (filled["interface"], plan_from(filled).until.verdict) == ("wsgi", True)
    with pytest.raises(BadInput, match="granian serves an ASGI application with one event loop"):
        found(f"--app shop:other --interface asgi {threads}")


def test_what_a_flag_says_is_left_as_it_is() -> None:
    line = "--app shop:other --interface asgi --server granian --runtime 3.11 --blocks 2 --request 'GET /x'"
    filled, _ = found(line)
    assert (filled["server"], filled["interface"], filled["runtime"]) == ("granian", "asgi", "3.11")
    assert (filled["until"], filled["blocks"], filled["requirements"]) == (None, "2", None)
    assert found("--system 4")[0]["runtime"] is None


def test_the_projects_own_server_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "installed_packages", lambda python: {"waitress": "3.0"})
    assert found("--app shop:wsgi --runtime 3.14")[0]["server"] == "waitress"
    assert found("--app shop:other --interface asgi --runtime 3.14")[0]["server"] == "uvicorn"


def test_what_is_no_application_is_refused_with_the_way_by_command() -> None:
    with pytest.raises(BadInput, match=r"shop\.Other, which is neither WSGI nor ASGI"):
        found("--app shop:other --runtime 3.14")


@each_row
def test_flags_that_no_project_can_mend_are_refused_before_anything_is_installed(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project, "_requirements", lambda *_: pytest.fail("something was installed"))
    flags, _, reason = line.partition(" -> ")
    with pytest.raises(BadInput, match=reason):
        found(flags)


def test_the_packages_are_installed_for_a_python_beside_native(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = with_runtimes((), monkeypatch)
    with pytest.raises(BadInput, match=r"Runtime 3\.14t was not found"):
        PYTHON(parsed("--app shop:wsgi --runtime native,3.14t"), print)
    assert asked == []


BOUND = '[project]\nname = "shop"\nversion = "1"\nrequires-python = "BOUND"\n'


def test_runtimes_that_the_project_excludes_are_refused_unless_the_user_insists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = with_runtimes(["3.14", "3.14t", "3.15"], monkeypatch)
    monkeypatch.setattr(packages, "read_dependencies", lambda *_: None)
    line = "--app shop:wsgi --server gunicorn"
    file = tmp_path / "pyproject.toml"
    file.write_text(BOUND.replace("BOUND", ">=3.11,<3.14"))
    refused = r"pyproject\.toml accepts only Python >=3\.11,<3\.14, so .* under 3\.14 and 3\.14t\."
    for runtimes in ("", "--runtime 3.11,3.14,3.14t"):
        with pytest.raises(BadInput, match=refused):
            found(f"{line} {runtimes}")
    assert found(f"{line} --runtime 3.11")[0]["runtime"] == "3.11"
    assert found(f"{line} --ignore-requires-python")[0]["runtime"] == "3.14,3.14t+gil,3.14t"
    file.write_text(BOUND.replace("BOUND", ">=3.15"))
    assert (found(line)[0]["runtime"], asked) == ("3.15,3.15t+gil,3.15t", ["3.15t"])


def test_a_variant_in_a_folder_of_its_own_gets_the_packages_of_that_folder_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those of the project, and a folder is one below the current folder, not below --directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("old", "sub", "sub/old"):
        Path(name).mkdir()
    Path("old/requirements.txt").write_text("flask==3.0")
    Path("sub/requirements.txt").write_text("django==5.2")
    line = "--service-command '{python} app.py {port}' --directory sub --runtime 3.14 --variant a:directory=old"
    filled, _ = found(f"{line} --variant b:directory=sub/old --variant a:requirements=flask==3.1")
    assert filled["requirements"] == str(tmp_path / "sub/requirements.txt")
    assert filled["variant"][-2:] == [f"a:requirements={tmp_path}/old/requirements.txt", "b:requirements=/dev/null"]
