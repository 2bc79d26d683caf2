"""Wheels of our own extensions: built once, known by what they are made of, and why one is not there."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

from core.errors import BadInput
from core.system import Extension
from lab.environments.environment import EnvironmentFailed
from lab.native import wheels
from lab.native.wheels import make, wheel
from lab.places import NATIVE_SOURCES
from lab.python.interpreters import Interpreter
from tests.lab.python.fake_pythons import pretend_uv

FAKE_UV = """
echo "$*" >>"$LOG"
[ ! -e "$LOG.fail" ] || { cat "$LOG.fail" >&2; exit 2; }
mkdir -p "$6" && echo made >"$6/some-0.1.0-cp311-cp311-linux_x86_64.whl"
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The source of the one extension that there is, `some`; it needs sh, and borrows a header."""
    native = tmp_path / "native"
    (native / "some/target").mkdir(parents=True)
    (native / "shared").mkdir()
    (native / "shared/client.hpp").write_text("one")
    some = Extension(name="some", tools=("sh",), borrowed=("shared/client.hpp",))
    monkeypatch.setattr(wheels, "NATIVE_SOURCES", native)
    monkeypatch.setattr(wheels, "NATIVE_BUILDS", native)
    monkeypatch.setattr(wheels, "WHEELS", native / "wheels")
    monkeypatch.setattr(wheels, "EXTENSIONS", {"some": some})
    file = native / "some/lib.rs"
    file.write_text("fn main() {}")
    return file


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Puts a uv in place that only pretends, and notes each call in this file."""
    return pretend_uv(monkeypatch, tmp_path, FAKE_UV)


def built(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def made(interpreter: Interpreter) -> str:
    """Why `some` could not be built; empty where it is there."""
    [(what, reason)] = make(["some"], [interpreter])
    assert str(what) == f"some for {interpreter.name}"
    return str(reason)


def test_a_wheel_is_built_once_for_an_interpreter_and_then_found(
    source: Path, log: Path, interpreter: Interpreter
) -> None:
    assert (made(interpreter), made(interpreter), built(log)) == ("", "", 1)
    found = wheel("some", interpreter)
    assert found.read_text() == "made\n"
    asked = f"build --wheel --python {interpreter.executable} --out-dir {found.parent}/made {source.parent}\n"
    assert log.read_text() == asked


# What a build leaves, and a source that is not borrowed, have no say.
CHANGED = """\
some/lib.rs has_a_say
some/new.rs has_a_say
shared/client.hpp has_a_say
some/target/lib.rs
some/Cargo.lock
shared/main.cpp"""


@pytest.mark.parametrize("line", CHANGED.splitlines())
def test_other_sources_need_another_wheel(line: str, source: Path, log: Path, interpreter: Interpreter) -> None:
    changed, *has_a_say = line.split()
    made(interpreter)
    (source.parent.parent / changed).write_text("two")
    with pytest.raises(EnvironmentFailed, match="build it with: python") if has_a_say else nullcontext():
        wheel("some", interpreter)
    assert (made(interpreter), built(log)) == ("", 1 + len(has_a_say))


def test_interpreters_do_not_share_wheels_and_a_new_build_of_one_needs_its_own(
    source: Path, log: Path, interpreter: Interpreter, tmp_path: Path
) -> None:
    other = dataclasses.replace(interpreter, executable=tmp_path / "python")
    rebuilt = dataclasses.replace(interpreter, facts={**interpreter.facts, "build": "another day"})
    assert [str(reason) for _, reason in make(["some"], [interpreter, other])] == ["", ""]
    assert wheel("some", interpreter) != wheel("some", other)
    with pytest.raises(EnvironmentFailed):
        wheel("some", rebuilt)


def test_two_runs_at_once_build_it_once(source: Path, log: Path, interpreter: Interpreter) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(made, [interpreter] * 4)) == [""] * 4
    assert built(log) == 1


def test_a_missing_tool_is_the_reason_and_an_unknown_extension_is_refused_with_those_there_are(
    source: Path, log: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    needy = Extension(name="some", tools=("sh", "no-such-cargo"))
    monkeypatch.setattr(wheels, "EXTENSIONS", {"some": needy})
    assert made(interpreter) == "not built: needs no-such-cargo"
    with pytest.raises(EnvironmentFailed, match="needs no-such-cargo"):
        wheel("some", interpreter)
    with pytest.raises(BadInput, match="Choose from some"):
        wheel("other", interpreter)
    assert built(log) == 0


def test_a_failed_build_leaves_its_reason(source: Path, log: Path, interpreter: Interpreter) -> None:
    """tests/lab/native/test_programs.py has all that is made of the output of a build."""
    log.with_name("log.fail").write_text("CMake Error\n  some: not built: needs boost\nmore\n")
    assert made(interpreter) == "not built: needs boost"
    with pytest.raises(EnvironmentFailed, match="not built: needs boost"):
        wheel("some", interpreter)
    log.with_name("log.fail").unlink()
    assert (made(interpreter), wheel("some", interpreter).is_file()) == ("", True)


def test_the_extensions_that_systems_name_are_there() -> None:
    for extension in wheels.EXTENSIONS.values():
        for needed in (f"{extension.name}/pyproject.toml", *extension.borrowed):
            assert (NATIVE_SOURCES / needed).is_file()
