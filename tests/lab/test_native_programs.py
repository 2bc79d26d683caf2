"""Native programs: what builds each, how each is started, and why one is not there. Nothing is compiled here."""

import os
import sys
from pathlib import Path

import pytest

from commands import native
from core.messages import BadInput
from core.system import Program
from lab import native_builds
from lab.environments.environment import EnvironmentFailed
from lab.folders import lock_folder, locked
from lab.native_builds import BUILDS, PROGRAMS, Build, command, make, missing, run_build
from tests.lab.python.fake_pythons import script

NEEDS = "gilscope-test-compiler"


class Workshop:
    """A folder for sources, a compiler that is a shell script, and a table of one program that it builds."""

    def __init__(self, folder: Path) -> None:
        self.sources = folder / "native"
        self.bin = self.sources / "bin"
        self.tools = folder / "tools"
        self.sources.mkdir()

    def build(self) -> Build:
        """How the program is built."""
        made = self.sources / "target/one"
        return Build(name="one", tools=(NEEDS,), commands=((NEEDS, str(made)),), built_file=made, folder=self.sources)

    def has_compiler(self, body: str = 'mkdir -p "${1%/*}" && echo built >> "$1"') -> None:
        """From now on the tool is there, and this is what it does."""
        script(self.tools / NEEDS, body)


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A workshop in place of the repository's native folder."""
    shop = Workshop(tmp_path)
    monkeypatch.setattr(native_builds, "BIN", shop.bin)
    monkeypatch.setattr(native_builds, "SHIPPED_PROGRAMS", shop.bin)
    monkeypatch.setattr(native_builds, "BUILDS", {"one": shop.build()})
    monkeypatch.setenv("PATH", f"{shop.tools}{os.pathsep}{os.environ['PATH']}")
    return shop


def made(*names: str) -> list[tuple[str, str]]:
    return [(str(name), str(reason)) for name, reason in make(names, [])]


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


def test_a_build_that_fails_says_its_errors_then_and_later_and_an_earlier_program_is_not_measured(
    workshop: Workshop,
) -> None:
    """The output has bytes that are no UTF-8, and the build nothing on its standard input."""
    workshop.has_compiler()
    assert str(missing("one")) == "not built; build it with: python runner.py native"
    made("one")
    workshop.has_compiler("cat; printf 'error: caf\\351\\nnote\\n'; exit 101")
    ((_, said),) = made("one")
    assert said.startswith(f"not built, although all build tools are installed: {NEEDS} ")
    assert said.endswith("failed: error: caf\N{REPLACEMENT CHARACTER}")
    assert (str(missing("one")), (workshop.bin / "one").exists()) == (said, True)
    workshop.has_compiler()
    assert made("one") == [("one", "")]
    assert str(missing("one")) == ""


def test_a_build_ends_with_all_that_it_started_which_then_holds_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if its time is over."""
    os.mkfifo(tmp_path / "fifo")
    with locked(tmp_path) as lock:
        outliving = f"(exec >/dev/null 2>&1; setsid cat <{tmp_path}/fifo) &"
        reason = run_build("one", [["sh", "-c", f"{outliving} echo out; echo err >&2; exit 3"]], lock, tmp_path / "why")
    assert str(reason).endswith("failed: out / err")
    free = lock_folder(tmp_path, wait=False)
    assert free is not None
    os.close(free)
    with locked(tmp_path) as lock:
        monkeypatch.setattr(native_builds, "BUILD_TIMEOUT_S", 0.2)
        reason = run_build("one", [["sh", "-c", "sleep 30 & wait"]], lock, tmp_path / "why")
    assert str(reason).endswith("did not end within 0.2 s")
    with locked(tmp_path):
        pass


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
    monkeypatch.setattr(native_builds, "BUILDS", {"one": build})
    assert made("one")[0][1].startswith("not built: cargo build failed: error: rustc")
    script(workshop.tools / "cargo", "echo 'error: could not compile `loadgen`' >&2; exit 101")
    assert made("one")[0][1].startswith("not built, although all build tools are installed: cargo build failed")


def test_a_library_that_the_build_names_is_the_reason(workshop: Workshop) -> None:
    said = "-- one: not built: needs libuv (libuv1-dev)"
    workshop.has_compiler(f"echo '{said}'; echo '-- other: not built: needs boost'; exit 1")
    assert made("one") == [("one", "not built: needs libuv (libuv1-dev)")]


def test_a_jar_is_started_by_java(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        native_builds, "BUILDS", {"one": workshop.build()._replace(built_file=workshop.sources / "one.jar")}
    )
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
