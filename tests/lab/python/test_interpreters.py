"""Interpreters: found wherever they are, known by what they say of themselves, chosen by a rule."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Barrier

import pytest

from core import runtime
from core.messages import BadInput
from lab.python import interpreters, uv
from lab.python.interpreters import Interpreter, all_found, ask, find, install, missing
from tests.lab.python.fake_pythons import fake_python, fake_pythons, pretend_uv, script

OWN_EXECUTABLE = Path(getattr(sys, "_base_executable", None) or sys.executable)
OWN_NAME = f"3.{sys.version_info.minor}" + ("t" if runtime.facts()["gil_disabled_build"] else "")


Search = Callable[..., None]


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Search:
    """Makes PATH these folders and no others; uv and pyenv have nothing unless a test gives it to them."""
    monkeypatch.setattr(uv, "find", lambda: None)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "no-pyenv"))

    def set_path(*folders: Path) -> None:
        monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))

    set_path()
    return set_path


def test_the_running_interpreter_is_found_or_chosen_by_a_link_with_its_own_facts(
    search: Search, tmp_path: Path
) -> None:
    link = tmp_path / f"python{OWN_NAME}"
    link.symlink_to(OWN_EXECUTABLE)
    search(tmp_path)
    for chosen, source in (({}, "PATH"), ({OWN_NAME: link}, "given")):
        found = find([OWN_NAME], chosen)[OWN_NAME]
        assert (found.name, found.source) == (OWN_NAME, source)
        assert found.executable == Path(os.path.realpath(OWN_EXECUTABLE))  # a link is followed
        assert found.facts["version"] == runtime.facts()["version"]
        assert found.facts["build"] == runtime.facts()["build"]


def test_an_environments_python_leads_to_the_interpreter_it_was_made_from_whatever_variables_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(OWN_EXECUTABLE)
    (tmp_path / "pyvenv.cfg").write_text(f"home = {OWN_EXECUTABLE.parent}\n")
    monkeypatch.setenv("PYTHONHOME", "nowhere")
    monkeypatch.setenv("PYTHONSTARTUP", "nothing.py")
    interpreter = ask("PATH", tmp_path / "bin/python")
    assert interpreter
    assert interpreter.executable == Path(os.path.realpath(OWN_EXECUTABLE))


def test_a_failing_shim_or_uv_is_skipped_quietly(
    search: Search, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_uv(monkeypatch, tmp_path, "echo 'error: unexpected argument' >&2; exit 2")
    script(tmp_path / "shims/python3.12", "echo 'pyenv: command not found' >&2; exit 127")
    fake_python(tmp_path / "bin/python3.12", "3.12.4")
    search(tmp_path / "shims", tmp_path / "missing", tmp_path / "bin")
    found = find(["3.12", "3.11"])
    assert list(found) == ["3.12"]
    assert found["3.12"].executable == tmp_path / "bin/python3.12"
    assert capfd.readouterr() == ("", "")


def test_what_does_not_answer_as_a_cpython_is_none(tmp_path: Path) -> None:
    program = script(tmp_path / "python3.12", "")
    pypy = """echo '{"facts": {"implementation": "pypy"}, "executable": "x"}'"""
    for content in ("#!/bin/sh\necho no json\n", "#!/bin/sh\necho '[]'\n", f"#!/bin/sh\n{pypy}\n", "\x7fELF broken"):
        program.write_text(content)
        assert ask("PATH", program) is None


def test_a_hanging_interpreter_does_not_hold_up_a_good_one(
    search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_ask, together = ask, Barrier(5)

    def ask_at_once(source: str, path: Path) -> Interpreter | None:
        together.wait(20.0)  # breaks where one is asked after another
        return real_ask(source, path, timeout_s=20.0 if "good" in path.parts else 0.2)

    monkeypatch.setattr(interpreters, "ask", ask_at_once)
    for number in range(4):
        script(tmp_path / str(number) / "python3.12", "exec sleep 60")
    fake_python(tmp_path / "good/python3.12", "3.12.4")
    search(*(tmp_path / str(number) for number in range(4)), tmp_path / "good")
    assert "3.12" in find(["3.12"])


def test_the_interpreters_own_word_decides_and_not_its_files_name(search: Search, tmp_path: Path) -> None:
    real = fake_python(tmp_path / "python3.14", "3.14.2", free_threaded=True)
    fake_python(tmp_path / "python3.12", "3.11.9")
    search(tmp_path)
    found = find(["3.14", "3.14t", "3.14.2t+gil", "3.12"])
    assert {name: one.executable for name, one in found.items()} == {"3.14t": real, "3.14.2t": real}
    with pytest.raises(BadInput, match=r"3\.14\.2"):
        find([], {"3.14.6t": real})


def test_one_shim_behind_two_names_is_asked_under_both_and_one_binary_counts_once(
    search: Search, tmp_path: Path
) -> None:
    fake_python(tmp_path / "3.12", "3.12.4")
    fake_python(tmp_path / "3.13", "3.13.1")
    shim = script(tmp_path / "shim", f'exec {tmp_path}/"${{0##*/python}}"')
    (tmp_path / "link").mkdir()
    for name in ("python3.12", "python3.13", "link/python3.12"):
        (tmp_path / name).symlink_to(shim)
    search(tmp_path, tmp_path / "link")
    found = find(["3.12", "3.13"])
    assert {name: one.executable.name for name, one in found.items()} == {"3.12": "3.12", "3.13": "3.13"}
    assert len(all_found((12, 13))) == 2


BEST_FIRST = """\
managed/cpython-3.12/bin/python3.12 3.12.10
newest/python3.12 3.12.10
versions/3.12.4/bin/python3.12 3.12.10
preview/python3.12 3.12.10rc1
old/python3.12 3.12.4
old/python3.14 3.14.2
old/python3.14t 3.14.2 free_threaded
debug/python3.12 3.12.11 debug
shared/python3.12 3.12.11 shared"""


def test_a_static_build_comes_before_newer_shared_and_debug_ones_and_of_equals_uv_first_then_the_path_then_pyenv(
    search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pythons(tmp_path, BEST_FIRST)
    pretend_uv(monkeypatch, tmp_path / "tools", f"echo 'warning: one' >&2; echo {tmp_path}/managed")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    fake_python(tmp_path / "old/python3.10", "3.10.1")  # older than all that can be measured
    search(*(tmp_path / name for name in ("shared", "debug", "old", "preview", "newest")))
    found = all_found(range(11, 100))
    assert [one.executable for one in found] == [tmp_path / line.split()[0] for line in BEST_FIRST.splitlines()]
    assert [one.source for one in found][:3] == ["uv", "PATH", "pyenv"]
    assert find(["3.12"])["3.12"] == found[0]


def test_uv_is_taken_from_the_path_or_from_beside_the_orchestrator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = script(tmp_path / "venv/uv", "")
    on_path = script(tmp_path / "bin/uv", "")
    for own, path, found in (("venv", "empty", beside), ("venv", "bin", on_path), ("none", "empty", None)):
        monkeypatch.setattr(sys, "executable", str(tmp_path / own / "python"))
        monkeypatch.setenv("PATH", str(tmp_path / path))
        assert uv.find() == found


def test_a_jit_is_looked_for_among_all_and_is_measured_off_in_the_same_interpreter(
    search: Search, tmp_path: Path
) -> None:
    newest = fake_python(tmp_path / "a/python3.14", "3.14.7")
    with_jit = fake_python(tmp_path / "b/python3.14", "3.14.5", jit=True)
    both = ["3.14", "3.14+jit"]
    search(tmp_path / "a", tmp_path / "b")
    assert [find(both)[name].executable for name in both] == [with_jit, with_jit]
    assert find(["3.14"])["3.14"].executable == newest
    search(tmp_path / "a")
    assert [find(both, {"3.14+jit": with_jit})[name].executable for name in both] == [with_jit, with_jit]
    assert list(find(both)) == ["3.14"]
    assert "--interpreter 3.14+jit=PATH" in str(missing("3.14+jit"))
    with pytest.raises(BadInput, match="without a JIT"):
        find([], {"3.14+jit": newest})


def test_a_chosen_path_is_taken_before_a_better_one_and_one_of_another_build_or_of_none_is_refused(
    search: Search, tmp_path: Path
) -> None:
    """Also when its name was not asked for."""
    fake_python(tmp_path / "bin/python3.14", "3.14.9")
    chosen = fake_python(tmp_path / "mine", "3.14.1", shared=True)
    search(tmp_path / "bin")
    for asked in (["3.14"], []):
        found = find(asked, chosen={"3.14": chosen})["3.14"]
        assert (found.executable, found.source) == (chosen, "given")
    fake_python(tmp_path / "other", "3.14.2", free_threaded=True)
    script(tmp_path / "broken", "exit 1")
    for name, why in {
        "other": "the program is CPython 3.14.2t. Give",
        "none": "the file does not exist",
        "broken": "did not",
    }.items():
        with pytest.raises(BadInput, match=f"--interpreter 3.14={tmp_path / name}: .*{why}.*CPython 3.14. `"):
            find(["3.14"], chosen={"3.14": tmp_path / name})


# ---- installed by uv -----------------------------------------------------------------------------------------------


REFUSING = """\
echo "$@ $UV_HTTP_RETRIES" >>log
case $3 in
    3.97) printf 'error: Failed\n  cause: dns error\n  cause: failed to lookup address\n' >&2; exit 1 ;;
    3.98t) exec sleep 60 ;;
    3.99) echo "error: No download found for request: 3.99." >&2; exit 2 ;;
esac"""


def test_install_asks_uv_for_each_name_once_and_says_in_one_line_why_a_runtime_could_not_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for fake_uv, names, timeout_s, why in (
        (
            script(tmp_path / "uv", REFUSING),
            ["3.14", "3.99"],
            60.0,
            "No download found for request: 3.99. Try again with",
        ),
        (tmp_path / "uv", ["3.97"], 60.0, "no network: dns error. Try again with: uv python install 3.97"),
        (tmp_path / "uv", ["3.98t", "3.98t+gil"], 0.2, "the command did not end within 0.2 s."),
        (None, ["3.14t"], 60.0, "uv was not found. Install uv where only you and root can write"),
    ):
        monkeypatch.setattr(uv, "find", lambda fake_uv=fake_uv: fake_uv)
        monkeypatch.setattr(interpreters, "INSTALL_TIMEOUT_S", timeout_s)
        (line,) = install(names)
        assert why in str(line)
    asked = (tmp_path / "log").read_text().splitlines()
    assert asked[:3] == ["python install 3.14 0", "python install 3.99 0", "python install 3.97 0"]


@pytest.mark.skipif(uv.find() is None, reason="make setup has uv")
def test_the_cause_that_uv_names_is_a_whole_sentence_in_a_narrow_terminal(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("--no-index\nsqlalchemyy\n")
    arguments = ["pip", "compile", str(tmp_path / "requirements.txt")]
    _, failure = uv.run(arguments, 60.0, {**os.environ, "COLUMNS": "40"})
    assert str(failure) == (
        "Because sqlalchemyy was not found in the provided package locations and you require sqlalchemyy, we can "
        "conclude that your requirements are unsatisfiable"
    )
