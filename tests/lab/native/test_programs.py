"""Native programs: what builds each, how each is started, and why one is not there. Nothing is compiled here."""

import os
import sys
from pathlib import Path

import pytest

from commands import native
from core.errors import BadInput
from core.system import Program
from lab.environments.environment import EnvironmentFailed
from lab.native import programs
from lab.native.programs import BUILDS, PROGRAMS, Build, command, make, missing
from tests.lab.python.fake_pythons import script

NEEDS = "gilscope-test-compiler"


class Workshop:
    """A folder with a source, a compiler that is a shell script, and a table of one program that it builds."""

    def __init__(self, folder: Path) -> None:
        self.sources = folder / "native"
        self.bin = self.sources / "bin"
        self.tools = folder / "tools"
        for made in (self.sources / "one", self.tools):
            made.mkdir(parents=True)
        self.source = self.sources / "one/main.rs"
        self.source.write_text("fn main() {}")

    def build(self, name: str = "one") -> Build:
        """How the program is built."""
        made = self.sources / "target" / name
        return Build(name=name, tools=(NEEDS,), commands=((NEEDS, str(made)),), built_file=made, folder=self.sources)

    def has_compiler(self, body: str = 'mkdir -p "${1%/*}" && echo built >> "$1"') -> None:
        """From now on the tool is there, and this is what it does."""
        script(self.tools / NEEDS, body)

    def newer(self, source: Path, seconds: float = 10.0) -> None:
        """From now on that source is newer than the program; below 0: older."""
        source.parent.mkdir(exist_ok=True)
        source.touch()
        at_s = (self.bin / "one").stat().st_mtime + seconds
        os.utime(source, (at_s, at_s))

    @property
    def times_built(self) -> int:
        """How often the compiler has run."""
        return len((self.sources / "target/one").read_text().splitlines())


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A workshop in place of the repository's native folder."""
    shop = Workshop(tmp_path)
    monkeypatch.setattr(programs, "BIN", shop.bin)
    monkeypatch.setattr(programs, "SHIPPED_PROGRAMS", shop.bin)
    monkeypatch.setattr(programs, "BUILDS", {"one": shop.build()})
    monkeypatch.setenv("PATH", f"{shop.tools}{os.pathsep}{os.environ['PATH']}")
    return shop


def made(*names: str) -> list[tuple[str, str]]:
    return [(name, str(reason)) for name, reason in make(names)]


def test_a_program_is_built_put_into_its_place_and_started_from_there_once_its_tools_are_there(
    workshop: Workshop,
) -> None:
    reason = f"not built: needs {NEEDS}"
    assert made("one") == [("one", reason)]
    with pytest.raises(EnvironmentFailed, match=f"^{reason}$"):
        command(Program(name="one"))
    workshop.has_compiler()
    assert made("one") == [("one", "")]
    assert (workshop.bin / "one").read_text() == "built\n"
    assert str(missing("one")) == ""
    assert command(Program(name="one", arguments=("--child",))) == [str(workshop.bin / "one"), "--child"]


def test_a_program_is_built_again_only_if_a_source_is_newer_which_what_a_build_leaves_behind_is_not(
    workshop: Workshop,
) -> None:
    workshop.has_compiler()
    assert str(missing("one")) == "not built; build it with: python runner.py native"
    assert made("one") == made("one") == [("one", "")]
    for folder in ("target", "build", "bin", "wheels"):
        workshop.newer(workshop.sources / folder / "left.rs")
    assert made("one") == [("one", "")]
    assert workshop.times_built == 1
    workshop.newer(workshop.source)
    assert made("one") == [("one", "")]
    assert workshop.times_built == 2


def test_a_build_that_fails_says_its_last_words_then_and_later_and_an_earlier_program_is_not_measured(
    workshop: Workshop,
) -> None:
    """The output has bytes that are no UTF-8, and the build nothing on its standard input."""
    workshop.has_compiler()
    made("one")
    workshop.has_compiler("cat; printf 'error: caf\\351'; exit 101")
    workshop.newer(workshop.source)
    ((_, said),) = made("one")
    assert said.startswith(f"not built, although all build tools are installed: {NEEDS} ")
    assert said.endswith("failed: error: caf\N{REPLACEMENT CHARACTER}")
    assert (str(missing("one")), (workshop.bin / "one").exists()) == (said, True)
    workshop.newer(workshop.source, -10.0)
    workshop.has_compiler()
    assert made("one") == [("one", "")]
    assert (str(missing("one")), workshop.times_built) == ("", 2)


def test_a_compiler_that_cannot_be_started_and_a_name_that_is_no_program_are_told(workshop: Workshop) -> None:
    workshop.has_compiler()
    (workshop.tools / NEEDS).write_text("#!/no/such/shell\n")
    ((_, reason),) = made("one")
    assert f"{NEEDS} could not be started" in reason
    with pytest.raises(BadInput, match="one"):
        native.main(["two"])


def test_a_cargo_that_can_build_nothing_is_not_a_program_that_does_not_compile(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(workshop.tools / "cargo", "echo 'error: rustc 1.85.0 is not supported by the packages:' >&2; exit 101")
    build = workshop.build()._replace(tools=("cargo",), commands=(("cargo", "build"),))
    monkeypatch.setattr(programs, "BUILDS", {"one": build})
    assert made("one")[0][1].startswith("not built: cargo build failed: error: rustc")
    script(workshop.tools / "cargo", "echo 'error: could not compile `loadgen`' >&2; exit 101")
    assert made("one")[0][1].startswith("not built, although all build tools are installed: cargo build failed")


def test_a_library_that_the_build_names_is_the_reason(workshop: Workshop) -> None:
    said = "-- one: not built: needs libuv (libuv1-dev)"
    workshop.has_compiler(f"echo '{said}'; echo '-- other: not built: needs boost'; exit 1")
    assert made("one") == [("one", "not built: needs libuv (libuv1-dev)")]


def test_a_jar_is_started_by_java(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "BUILDS", {"one": workshop.build()._replace(built_file=workshop.sources / "one.jar")})
    workshop.bin.mkdir()
    jar = workshop.bin / "one.jar"
    jar.touch()
    assert command(Program(name="one", arguments=("--child",))) == ["java", "-jar", str(jar), "--child"]


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - BUILDS.keys()))
def test_another_load_generator_is_what_path_has_and_is_run_by_a_client_of_ours(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PATH", str(workshop.tools))
    assert f"{name} is not on PATH" in str(missing(name))
    script(workshop.tools / name, "")
    assert str(missing(name)) == ""
    assert command(PROGRAMS[name]) == [sys.executable, "-s", "-m", "experiments.loadgen.peers", name]
