"""Environments: made once, known when ready, never half made."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from core.errors import BadInput, GilscopeError
from lab.environments import environment as environments
from lab.environments.environment import EnvironmentFailed, environment, installed_packages
from lab.python import uv
from lab.python.interpreters import Interpreter
from tests.lab.wheels import write_wheel

HAVE_UV = uv.find() is not None
FAKE_UV = """#!/bin/sh
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


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, interpreter: Interpreter) -> Path:
    """Puts a uv in place that only pretends, and notes each call in this file."""
    fake = tmp_path / "uv"
    fake.write_text(FAKE_UV)
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(uv, "find", lambda: fake)
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setenv("REAL", str(interpreter.executable))
    return tmp_path / "log"


def made(log: Path) -> int:
    """How many environments the pretended uv has made."""
    return log.read_text().count("venv") if log.exists() else 0


TOOLS = pytest.mark.parametrize(
    "tool",
    [
        pytest.param("uv", marks=pytest.mark.skipif(not HAVE_UV, reason="uv was not found")),
        pytest.param(
            "pip", marks=pytest.mark.skipif(not find_spec("ensurepip"), reason="this Python has no ensurepip")
        ),
    ],
)


@TOOLS
def test_a_real_environment_has_the_packages_their_byte_code_and_their_programs_by_bare_name(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interpreter: Interpreter
) -> None:
    monkeypatch.delenv("UV_COMPILE_BYTECODE", raising=False)
    if tool == "pip":
        monkeypatch.setattr(uv, "find", lambda: None)
    python = environment(interpreter, write_wheel(tmp_path), tmp_path / "runtimes")
    code = "import tiny_thing, sys; print(tiny_thing.VALUE, tiny_thing.__spec__.cached, sys.prefix)"
    value, cached, prefix = subprocess.check_output([python, "-I", "-B", "-c", code], text=True).split()
    assert (value, Path(prefix)) == ("7", python.parent.parent)
    assert Path(cached).is_file()
    assert installed_packages(python)["tiny-thing"] == "1.2"
    searched = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    said = subprocess.check_output(["tiny-serve"], env={**os.environ, "PATH": searched}, text=True)
    assert said.splitlines()[-1] == f"7 {python.parent.parent}"


@pytest.mark.skipif(not HAVE_UV, reason="uv was not found")
def test_a_package_file_without_hashes_is_refused_in_the_tools_own_words(
    tmp_path: Path, interpreter: Interpreter
) -> None:
    unhashed = write_wheel(tmp_path)
    unhashed.write_text(unhashed.read_text().partition(" --hash")[0] + "\n")
    with pytest.raises(EnvironmentFailed, match="hash"):
        environment(interpreter, unhashed, tmp_path / "runtimes")


def test_the_folder_names_the_runtime_and_the_path_is_absolute(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    python = environment(interpreter, requirements, Path(".runtimes"))
    assert python.is_absolute()
    assert python.is_file()
    assert python.parent.parent.parent == tmp_path / ".runtimes"
    assert python.parent.parent.name.startswith(f"{interpreter.name}-")


def test_a_ready_environment_is_known_without_a_process(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = environment(interpreter, requirements, tmp_path / "runtimes")
    monkeypatch.setattr(subprocess, "run", None)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert environment(interpreter, requirements, tmp_path / "runtimes") == first
    assert made(log) == 1


def test_changed_requirements_make_another_beside_the_one_in_use(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter
) -> None:
    before = environment(interpreter, requirements, tmp_path / "runtimes")
    requirements.write_text("some==2.0 --hash=sha256:00\n")
    after = environment(interpreter, requirements, tmp_path / "runtimes")
    assert (after != before, before.is_file(), made(log)) == (True, True, 2)


def test_one_that_nobody_uses_any_more_goes_when_another_is_made(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = environment(interpreter, requirements, tmp_path / "runtimes").parent.parent
    os.close(environments._IN_USE.pop(before))  # as the end of its process does
    requirements.write_text("some==2.0 --hash=sha256:00\n")
    after = environment(interpreter, requirements, tmp_path / "runtimes").parent.parent
    assert [path for path in (tmp_path / "runtimes").iterdir() if path.is_dir()] == [after]


def test_another_process_keeps_the_one_that_it_measures_with(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter
) -> None:
    before = environment(interpreter, requirements, tmp_path / "runtimes").parent.parent
    os.close(environments._IN_USE.pop(before))
    hold = "import sys; from pathlib import Path; from lab import locks\n"
    hold += "locks.take(Path(sys.argv[1]), shared=True); print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", hold, str(before)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        requirements.write_text("some==2.0 --hash=sha256:00\n")
        environment(interpreter, requirements, tmp_path / "runtimes")
        assert before.is_dir()
        other.communicate()
    requirements.write_text("some==3.0 --hash=sha256:00\n")
    environment(interpreter, requirements, tmp_path / "runtimes")
    assert not before.exists()


def test_another_build_at_the_same_path_makes_it_anew(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter
) -> None:
    environment(interpreter, requirements, tmp_path / "runtimes")
    rebuilt = Interpreter(
        name=interpreter.name,
        executable=interpreter.executable,
        source="PATH",
        facts={**interpreter.facts, "build": "(main, another day)"},
    )
    environment(rebuilt, requirements, tmp_path / "runtimes")
    assert made(log) == 2


def test_two_package_files_have_an_environment_each(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter
) -> None:
    other = tmp_path / "requirements-other.txt"
    other.write_text(requirements.read_text())
    pythons = {environment(interpreter, file, tmp_path / "runtimes") for file in (requirements, other) * 2}
    assert len(pythons) == 2
    assert made(log) == 2


def test_one_that_was_left_half_made_is_made_anew(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter
) -> None:
    place = environment(interpreter, requirements, tmp_path / "runtimes").parent.parent
    (place / environments.STAMP_FILE).unlink()
    (place / "rest").touch()
    environment(interpreter, requirements, tmp_path / "runtimes")
    assert made(log) == 2
    assert (place / environments.STAMP_FILE).is_file()
    assert not (place / "rest").exists()


def test_one_whose_python_is_gone_is_made_anew(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter
) -> None:
    environment(interpreter, requirements, tmp_path / "runtimes").unlink()
    assert environment(interpreter, requirements, tmp_path / "runtimes").is_file()
    assert made(log) == 2


def test_runs_at_once_make_it_once(log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter) -> None:
    with ThreadPoolExecutor(max_workers=8) as pool:
        tasks = [pool.submit(environment, interpreter, requirements, tmp_path / "r") for _ in range(8)]
        pythons = {task.result() for task in tasks}
    assert len(pythons) == 1
    assert made(log) == 1


def test_one_that_another_made_meanwhile_and_uses_is_not_waited_for(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = environment(interpreter, requirements, tmp_path / "runtimes")
    used = environments._IN_USE.pop(python.parent.parent)  # by another run, say
    is_ready, looks = environments._is_ready, iter([False])  # it was not, at the first look
    monkeypatch.setattr(environments, "_is_ready", lambda *given: next(looks, True) and is_ready(*given))
    assert environment(interpreter, requirements, tmp_path / "runtimes") == python
    assert made(log) == 1
    os.close(used)


def test_a_failure_names_file_runtime_and_reason_and_leaves_nothing(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter
) -> None:
    (tmp_path / "log.fail").touch()
    with pytest.raises(EnvironmentFailed) as caught:
        environment(interpreter, requirements, tmp_path / "runtimes")
    assert isinstance(caught.value, GilscopeError)
    assert str(caught.value) == (
        f"The packages of requirements-some.txt could not be installed for runtime {interpreter.name}: "
        "no such package. Check the network and the package index, then run again."
    )
    assert list((tmp_path / "runtimes").iterdir()) == []


def test_a_failure_leaves_the_old_environment_for_its_own_requirements(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter
) -> None:
    environment(interpreter, requirements, tmp_path / "runtimes")
    old = requirements.read_text()
    requirements.write_text("some==2.0 --hash=sha256:00\n")
    (tmp_path / "log.fail").touch()
    with pytest.raises(EnvironmentFailed):
        environment(interpreter, requirements, tmp_path / "runtimes")
    requirements.write_text(old)
    assert environment(interpreter, requirements, tmp_path / "runtimes").is_file()
    assert made(log) == 2  # one of them failed


def test_a_tool_that_does_not_end_is_given_up(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "uv").write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(environments, "MAKE_TIMEOUT_S", 0.2)
    with pytest.raises(EnvironmentFailed, match=r"did not end within 0\.2 s"):
        environment(interpreter, requirements, tmp_path / "runtimes")


def test_a_tool_that_does_not_run_is_named(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter
) -> None:
    (tmp_path / "uv").unlink()
    with pytest.raises(EnvironmentFailed, match=r"uv does not run \(No such file or directory\)"):
        environment(interpreter, requirements, tmp_path / "runtimes")


def test_a_folder_that_cannot_be_written_is_named(
    log: Path, tmp_path: Path, requirements: Path, interpreter: Interpreter
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentFailed, match=r"could not be made in .*file"):
        environment(interpreter, requirements, tmp_path / "file")


def test_a_package_file_that_is_missing_is_bad_input(interpreter: Interpreter, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.txt cannot be read \(No such file"):
        environment(interpreter, tmp_path / "none.txt", tmp_path)


def test_a_users_packages_and_a_server_are_asked_for_in_one_file(tmp_path: Path) -> None:
    asked = tmp_path / "requirements.txt"
    asked.write_text("flask==3.1.3  # web\n")
    file = Path(environments.requirements_file(str(asked), ["waitress==3.0.2"], tmp_path / "made"))
    assert file.read_text() == "flask==3.1.3\nwaitress==3.0.2\n"
    assert environments.requirements_file(str(asked), ["flask==1"], tmp_path / "made") == str(asked)
    assert environments.requirements_file("", [], tmp_path) == ""


def test_a_file_with_hashes_must_name_the_server_itself(tmp_path: Path, requirements: Path) -> None:
    with pytest.raises(EnvironmentFailed, match=r"must name waitress==3[.]0[.]2 with hashes"):
        environments.requirements_file(str(requirements), ["waitress==3.0.2"], tmp_path)


@pytest.mark.skipif(not HAVE_UV, reason="uv was not found")
def test_a_users_file_without_hashes_is_installed(tmp_path: Path, interpreter: Interpreter) -> None:
    unhashed = write_wheel(tmp_path)
    unhashed.write_text(unhashed.read_text().partition(" --hash")[0] + "\n")
    python = environment(interpreter, unhashed, tmp_path / "runtimes", hashed=False)
    assert installed_packages(python)["tiny-thing"] == "1.2"
