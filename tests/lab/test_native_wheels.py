"""Wheels of our own extensions: built once, known by what they are made of, and why one is not there."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from core.messages import BadInput
from core.system import Extension
from lab import native_builds
from lab.environments.environment import EnvironmentFailed
from lab.native_builds import make, wheel
from lab.places import NATIVE_SOURCES
from lab.python.interpreters import Interpreter
from tests.lab.python.fake_pythons import pretend_uv
from tests.tables import each_row

FAKE_UV = """
echo "$*" >>"$LOG"
[ ! -e "$LOG.fail" ] || { cat "$LOG.fail" >&2; exit 2; }
mkdir -p "$6" && echo made >"$6/some-0.1.0-cp311-cp311-linux_x86_64.whl"
"""


@dataclass(frozen=True)
class Workshop:
    """The sources of the one extension that there is, `some`, and an interpreter to build it for."""

    folder: Path
    log: Path
    interpreter: Interpreter

    def make(self, interpreter: Interpreter | None = None) -> str:
        """Why `some` could not be built; empty where it is there."""
        one = interpreter or self.interpreter
        [(what, reason)] = make(["some"], [one])
        assert str(what) == f"some for {one.name}"
        return str(reason)

    def wheel(self) -> Path:
        """The wheel that was built."""
        return wheel("some", self.interpreter)

    def built(self) -> int:
        """How often the pretended uv was called."""
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interpreter: Interpreter) -> Workshop:
    """The extension needs sh, and borrows a header. uv only pretends, and notes each call."""
    native = tmp_path / "native"
    (native / "some/target").mkdir(parents=True)
    (native / "shared").mkdir()
    (native / "shared/client.hpp").write_text("one")
    (native / "some/lib.rs").write_text("fn main() {}")
    some = Extension(name="some", tools=("sh",), borrowed=("shared/client.hpp",))
    monkeypatch.setattr(native_builds, "NATIVE_SOURCES", native)
    monkeypatch.setattr(native_builds, "NATIVE_BUILDS", native)
    monkeypatch.setattr(native_builds, "BIN", native / "bin")
    monkeypatch.setattr(native_builds, "WHEELS", native / "wheels")
    monkeypatch.setattr(native_builds, "EXTENSIONS", {"some": some})
    return Workshop(native, pretend_uv(monkeypatch, tmp_path, FAKE_UV), interpreter)


def test_a_wheel_is_built_once_for_an_interpreter_and_then_found(shop: Workshop) -> None:
    assert (shop.make(), shop.make(), shop.built()) == ("", "", 1)
    found = shop.wheel()
    assert found.read_text() == "made\n"
    asked = f"build --wheel --python {shop.interpreter.executable} --out-dir {found.parent}/made {shop.folder}/some\n"
    assert shop.log.read_text() == asked


@each_row
def test_other_sources_need_another_wheel(line: str, shop: Workshop) -> None:
    changed, *has_a_say = line.split()
    shop.make()
    (shop.folder / changed).write_text("two")
    with pytest.raises(EnvironmentFailed, match="build it with: python") if has_a_say else nullcontext():
        shop.wheel()
    assert (shop.make(), shop.built()) == ("", 1 + len(has_a_say))


def test_another_interpreter_or_build_of_one_needs_a_wheel_of_its_own(shop: Workshop, tmp_path: Path) -> None:
    shop.make()
    other = replace(shop.interpreter, executable=tmp_path / "python")
    rebuilt = replace(shop.interpreter, facts={**shop.interpreter.facts, "build": "another day"})
    for one in (other, rebuilt):
        with pytest.raises(EnvironmentFailed):
            wheel("some", one)
        assert shop.make(one) == ""
    assert shop.built() == 3


def test_two_runs_at_once_build_it_once(shop: Workshop) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(shop.make, [None] * 4)) == [""] * 4
    assert shop.built() == 1


def test_a_missing_tool_is_the_reason_and_an_unknown_extension_is_refused_with_those_there_are(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    needy = Extension(name="some", tools=("sh", "no-such-cargo"))
    monkeypatch.setattr(native_builds, "EXTENSIONS", {"some": needy})
    assert shop.make() == "not built: needs no-such-cargo"
    with pytest.raises(EnvironmentFailed, match="needs no-such-cargo"):
        shop.wheel()
    with pytest.raises(BadInput, match="Choose from some"):
        wheel("other", shop.interpreter)
    assert shop.built() == 0


def test_a_failed_build_leaves_its_reason(shop: Workshop) -> None:
    """tests/lab/test_native_programs.py has all that is made of the output of a build."""
    failure = shop.log.with_name("log.fail")
    failure.write_text("CMake Error\n  some: not built: needs boost\nmore\n")
    assert shop.make() == "not built: needs boost"
    with pytest.raises(EnvironmentFailed, match="not built: needs boost"):
        shop.wheel()
    failure.unlink()
    assert (shop.make(), shop.wheel().is_file()) == ("", True)


def test_the_extensions_that_systems_name_are_there() -> None:
    for extension in native_builds.EXTENSIONS.values():
        for needed in (f"{extension.name}/pyproject.toml", *extension.borrowed):
            assert (NATIVE_SOURCES / needed).is_file()
