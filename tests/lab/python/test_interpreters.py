"""Interpreters: found wherever they are, known by what they say of themselves, chosen by a rule."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Barrier

import pytest

from core import runtime
from core.errors import BadInput
from core.messages import AND, listed
from lab.python import interpreters, uv
from lab.python.interpreters import Interpreter, all_found, ask, find, missing
from tests.lab.python.fake_pythons import fake_python, script

OWN_EXECUTABLE = Path(getattr(sys, "_base_executable", None) or sys.executable)
OWN_NAME = f"3.{sys.version_info.minor}" + ("t" if runtime.facts()["gil_disabled_build"] else "")


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Makes PATH these folders and no others; uv and pyenv have nothing unless a test gives it to them."""
    monkeypatch.setattr(uv, "find", lambda: None)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "no-pyenv"))

    def set_path(*folders: Path) -> None:
        monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))

    set_path()
    return set_path


def test_the_running_interpreter_is_found_with_its_own_facts(search: Callable[..., None], tmp_path: Path) -> None:
    link = tmp_path / f"python{OWN_NAME}"
    link.symlink_to(OWN_EXECUTABLE)
    search(tmp_path)
    found = find([OWN_NAME])[OWN_NAME]
    assert (found.name, found.source) == (OWN_NAME, "PATH")
    assert found.executable == Path(os.path.realpath(OWN_EXECUTABLE)), "a link is followed"
    assert found.facts["version"] == runtime.facts()["version"]
    assert found.facts["build"] == runtime.facts()["build"]


def test_an_environments_python_leads_to_the_interpreter_it_was_made_from(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(OWN_EXECUTABLE)
    (tmp_path / "pyvenv.cfg").write_text(f"home = {OWN_EXECUTABLE.parent}\n")
    interpreter = ask("PATH", tmp_path / "bin" / "python")
    assert interpreter is not None
    assert interpreter.executable == Path(os.path.realpath(OWN_EXECUTABLE))


def test_variables_for_python_do_not_reach_the_interpreter_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "nowhere")
    monkeypatch.setenv("PYTHONSTARTUP", "nothing.py")
    assert ask("PATH", OWN_EXECUTABLE) is not None


def test_every_folder_on_the_path_is_searched(search: Callable[..., None], tmp_path: Path) -> None:
    fake_python(tmp_path / "a" / "python3.12", "3.12.4")
    fake_python(tmp_path / "b" / "python3.12", "3.12.9")
    search(tmp_path / "a", tmp_path / "missing", tmp_path / "b")
    found = find(["3.12"])["3.12"]
    assert found.executable == tmp_path / "b" / "python3.12"
    assert [other.executable for other in found.alternatives] == [tmp_path / "a" / "python3.12"]


def test_a_patch_release_is_found_by_the_version_that_an_interpreter_reports(
    search: Callable[..., None], tmp_path: Path
) -> None:
    older = fake_python(tmp_path / "older" / "python3.14t", "3.14.6", free_threaded=True)
    newer = fake_python(tmp_path / "newer" / "python3.14.7t", "3.14.7", free_threaded=True)
    search(tmp_path / "older", tmp_path / "newer")
    found = find(["3.14t", "3.14.6t+gil", "3.14.7t", "3.14.5t"])
    assert {name: one.executable for name, one in found.items()} == {
        "3.14t": newer,
        "3.14.6t": older,
        "3.14.7t": newer,
    }
    assert missing("3.14.5t").args["others"] == listed(["3.14.7t", "3.14.6t"], AND)
    with pytest.raises(BadInput, match=r"3\.14\.7"):
        find([], {"3.14.6t": newer})


def test_a_failing_shim_is_skipped_quietly(
    search: Callable[..., None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script(tmp_path / "shims" / "python3.12", "echo 'pyenv: command not found' >&2; exit 127")
    fake_python(tmp_path / "bin" / "python3.12", "3.12.4")
    search(tmp_path / "shims", tmp_path / "bin")
    found = find(["3.12"])["3.12"]
    assert (found.executable, found.alternatives) == (tmp_path / "bin" / "python3.12", ())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "body",
    ["echo no json", "echo '[]'", """echo '{"facts": {"implementation": "pypy"}, "executable": "x"}'""", ""],
)
def test_what_does_not_answer_as_a_cpython_is_none(tmp_path: Path, body: str) -> None:
    assert ask("PATH", script(tmp_path / "python3.12", body)) is None


def test_a_file_that_is_no_program_is_none(tmp_path: Path) -> None:
    broken = tmp_path / "python3.12"
    broken.write_bytes(b"\x7fELF broken")
    broken.chmod(0o700)
    assert ask("PATH", broken) is None


def test_a_hanging_interpreter_is_given_up_with_all_that_it_started(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    hanging = script(tmp_path / "python3.12", f"exec 9>{fifo}; echo started >&9; sleep 600 & wait")
    said = ""
    for timeout_s in (0.5, 2.0, 8.0, 32.0):  # on a busy machine it may be given up before it has begun
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        started = time.monotonic()
        assert ask("PATH", hanging, timeout_s=timeout_s) is None
        os.set_blocking(reader, True)
        with os.fdopen(reader) as pipe:
            said = pipe.read()  # to its end, which comes when no process holds the pipe
        assert time.monotonic() - started < timeout_s + 60
        if said:
            break
    assert said == "started\n"


def test_a_hanging_interpreter_does_not_hold_up_a_good_one(
    search: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_ask, together = ask, Barrier(5)

    def ask_at_once(source: str, path: Path) -> Interpreter | None:
        together.wait(20.0)  # breaks where one is asked after another
        return real_ask(source, path, timeout_s=20.0 if "good" in path.parts else 0.2)

    monkeypatch.setattr(interpreters, "ask", ask_at_once)
    for number in range(4):
        script(tmp_path / str(number) / "python3.12", "exec sleep 60")
    fake_python(tmp_path / "good" / "python3.12", "3.12.4")
    search(*(tmp_path / str(number) for number in range(4)), tmp_path / "good")
    assert "3.12" in find(["3.12"])


def test_the_interpreters_own_word_decides_and_not_its_files_name(search: Callable[..., None], tmp_path: Path) -> None:
    fake_python(tmp_path / "python3.14", "3.14.2", free_threaded=True)
    fake_python(tmp_path / "python3.12", "3.11.9")
    search(tmp_path)
    found = find(["3.14", "3.14t", "3.12"])
    assert list(found) == ["3.14t"]
    assert found["3.14t"].executable.name == "python3.14"


def test_two_names_of_one_binary_count_once(search: Callable[..., None], tmp_path: Path) -> None:
    fake_python(tmp_path / "real" / "python3.12", "3.12.4")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "python3.12").symlink_to(tmp_path / "real" / "python3.12")
    search(tmp_path / "link", tmp_path / "real")
    assert find(["3.12"])["3.12"].alternatives == ()


def test_one_shim_behind_two_names_is_asked_under_both(search: Callable[..., None], tmp_path: Path) -> None:
    fake_python(tmp_path / "3.12", "3.12.4")
    fake_python(tmp_path / "3.13", "3.13.1")
    shim = script(tmp_path / "shim", f'exec {tmp_path}/"${{0##*/python}}"')
    (tmp_path / "python3.12").symlink_to(shim)
    (tmp_path / "python3.13").symlink_to(shim)
    search(tmp_path)
    found = find(["3.12", "3.13"])
    assert {name: one.executable.name for name, one in found.items()} == {"3.12": "3.12", "3.13": "3.13"}


def test_a_static_build_comes_before_newer_shared_and_debug_ones(search: Callable[..., None], tmp_path: Path) -> None:
    fake_python(tmp_path / "shared" / "python3.12", "3.12.9", shared=True)
    fake_python(tmp_path / "debug" / "python3.12", "3.12.9", debug=True)
    fake_python(tmp_path / "old" / "python3.12", "3.12.4")
    fake_python(tmp_path / "preview" / "python3.12", "3.12.10rc1")
    fake_python(tmp_path / "newest" / "python3.12", "3.12.10")
    search(*(tmp_path / name for name in ("shared", "debug", "old", "preview", "newest")))
    best = find(["3.12"])["3.12"]
    order = [one.executable.parent.name for one in (best, *best.alternatives)]
    assert order == ["newest", "preview", "old", "debug", "shared"]


def test_of_equals_uv_comes_first_then_the_path_then_pyenv(
    search: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyenv = fake_python(tmp_path / "pyenv" / "versions" / "3.12.4" / "bin" / "python3.12", "3.12.4")
    on_path = fake_python(tmp_path / "bin" / "python3.12", "3.12.4")
    managed = fake_python(tmp_path / "managed" / "bin" / "python3.12", "3.12.4")
    listed = json.dumps([{"path": str(managed)}, {"path": None}])
    fake_uv = script(tmp_path / "tools" / "uv", f"echo 'warning: one' >&2; echo '{listed}'")
    monkeypatch.setattr(uv, "find", lambda: fake_uv)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    search(tmp_path / "bin")
    best = find(["3.12"])["3.12"]
    assert [(one.source, one.executable) for one in (best, *best.alternatives)] == [
        ("uv", managed),
        ("PATH", on_path),
        ("pyenv", pyenv),
    ]


def test_a_uv_that_knows_no_json_is_no_obstacle(
    search: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_uv = script(tmp_path / "uv", "echo 'error: unexpected argument' >&2; exit 2")
    monkeypatch.setattr(uv, "find", lambda: fake_uv)
    fake_python(tmp_path / "bin" / "python3.12", "3.12.4")
    search(tmp_path / "bin")
    assert list(find(["3.12"])) == ["3.12"]


def test_uv_is_taken_from_the_path_or_from_beside_the_orchestrator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = script(tmp_path / "venv" / "bin" / "uv", "")
    on_path = script(tmp_path / "bin" / "uv", "")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "bin" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert uv.find() == beside
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert uv.find() == on_path
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert uv.find() is None


def test_absent_names_are_not_in_the_answer(search: Callable[..., None]) -> None:
    assert find(["3.11", "3.14t", "3.14t+gil"]) == {}


def test_a_forced_gil_is_the_same_interpreter(search: Callable[..., None], tmp_path: Path) -> None:
    fake_python(tmp_path / "python3.14t", "3.14.2", free_threaded=True)
    search(tmp_path)
    assert list(find(["3.14t+gil", "3.14t"])) == ["3.14t"]


def test_a_jit_is_looked_for_among_all_and_is_measured_off_in_the_same_interpreter(
    search: Callable[..., None], tmp_path: Path
) -> None:
    newest = fake_python(tmp_path / "a" / "python3.14", "3.14.7")
    with_jit = fake_python(tmp_path / "b" / "python3.14", "3.14.5", jit=True)
    search(tmp_path / "a", tmp_path / "b")
    assert {name: one.executable for name, one in find(["3.14", "3.14+jit"]).items()} == {
        "3.14": with_jit,
        "3.14+jit": with_jit,
    }
    assert find(["3.14"])["3.14"].executable == newest


def test_a_chosen_interpreter_with_a_jit_is_the_one_without_too(search: Callable[..., None], tmp_path: Path) -> None:
    chosen = fake_python(tmp_path / "mine", "3.14.5", jit=True)
    found = find(["3.14", "3.14+jit"], chosen={"3.14+jit": chosen})
    assert [found[name].executable for name in ("3.14", "3.14+jit")] == [chosen, chosen]


def test_without_a_jit_the_runtime_is_missing_and_the_line_says_how_to_name_one(
    search: Callable[..., None], tmp_path: Path
) -> None:
    plain = fake_python(tmp_path / "python3.14", "3.14.7")
    search(tmp_path)
    assert list(find(["3.14", "3.14+jit"])) == ["3.14"]
    assert str(missing("3.14+jit")).endswith("Name one with: --interpreter 3.14+jit=PATH")
    with pytest.raises(
        BadInput, match=r"it was built without a JIT; it must be the path of a CPython 3.14 .*with a JIT"
    ):
        find(["3.14"], chosen={"3.14+jit": plain})


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(BadInput, match="'pypy' is not a runtime's name"):
        find(["pypy"])


def test_a_chosen_path_is_taken_before_a_better_one(search: Callable[..., None], tmp_path: Path) -> None:
    fake_python(tmp_path / "bin" / "python3.12", "3.12.9")
    chosen = fake_python(tmp_path / "mine" / "python", "3.12.1", shared=True)
    search(tmp_path / "bin")
    found = find(["3.12"], chosen={"3.12": chosen})["3.12"]
    assert (found.executable, found.source) == (chosen, "given")


def test_a_chosen_path_is_found_also_when_its_name_was_not_asked_for(
    search: Callable[..., None], tmp_path: Path
) -> None:
    chosen = fake_python(tmp_path / "python", "3.12.1")
    assert list(find([], chosen={"3.12": chosen})) == ["3.12"]


def test_a_chosen_path_may_be_a_link(tmp_path: Path) -> None:
    link = tmp_path / "my-python"
    link.symlink_to(OWN_EXECUTABLE)
    found = find([OWN_NAME], chosen={OWN_NAME: link})[OWN_NAME]
    assert found.executable == Path(os.path.realpath(OWN_EXECUTABLE))


def test_a_chosen_path_of_another_build_is_refused_with_what_it_is(tmp_path: Path) -> None:
    chosen = fake_python(tmp_path / "python", "3.14.2", free_threaded=True)
    with pytest.raises(BadInput) as caught:
        find(["3.14"], chosen={"3.14": chosen})
    assert f"--interpreter 3.14={chosen}: it is CPython 3.14.2, 3.14t (free-threaded build)" in str(caught.value)
    assert "it must be the path of a CPython 3.14 (default build)" in str(caught.value)


def test_a_chosen_path_without_a_file_or_that_does_not_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file; it must be the path of a CPython"):
        find(["3.14"], chosen={"3.14": tmp_path / "nothing"})
    broken = script(tmp_path / "broken", "exit 1")
    with pytest.raises(BadInput, match="did not answer as a CPython does; it must be the path"):
        find(["3.14"], chosen={"3.14": broken})


def test_all_found_lists_every_one_of_at_least_3_11_by_name_best_first(
    search: Callable[..., None], tmp_path: Path
) -> None:
    fake_python(tmp_path / "a" / "python3.10", "3.10.1")
    fake_python(tmp_path / "a" / "python3.14t", "3.14.2", free_threaded=True)
    fake_python(tmp_path / "a" / "python3.14", "3.14.2")
    fake_python(tmp_path / "a" / "python3.9", "3.9.1")
    fake_python(tmp_path / "a" / "python3.11", "3.11.2")
    fake_python(tmp_path / "b" / "python3.11", "3.11.7")
    search(tmp_path / "a", tmp_path / "b")
    assert [(one.name, one.facts["version"]) for one in all_found()] == [
        ("3.11", "3.11.7"),
        ("3.11", "3.11.2"),
        ("3.14", "3.14.2"),
        ("3.14t", "3.14.2"),
    ]


def test_all_found_agrees_with_find_on_this_machine() -> None:
    listed = all_found()
    best: dict[str, Interpreter] = {}
    for interpreter in listed:
        best.setdefault(interpreter.name, interpreter)
    for name, interpreter in find(best).items():
        assert interpreter == best[name]


def test_a_missing_runtime_is_one_line_with_the_command_that_installs_it() -> None:
    assert str(missing("3.14t")) == "Runtime 3.14t was not found. Install it with: uv python install 3.14t"
    assert str(missing("3.14t+gil")).endswith("uv python install 3.14t")
