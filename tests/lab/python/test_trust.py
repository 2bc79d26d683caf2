"""A program that others could have put there, or could change, is never executed, as root or not."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from lab.environments import environment as environments
from lab.python import interpreters, trust
from lab.python.interpreters import Interpreter
from lab.python.trust import may_execute, trusted_output
from tests.lab.python.fake_pythons import script

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """The file that a hostile program makes when it is executed."""
    return tmp_path / "executed"


def hostile(path: Path, marker: Path) -> Path:
    """A program that says that it was executed, and then answers like a CPython."""
    return script(path, f'touch {marker}\nexec {sys.executable} "$@"')


@as_root
def test_a_program_of_another_user_is_named_with_its_owner_and_found_on_path_not_executed(
    tmp_path: Path, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = hostile(tmp_path / "python3.19", marker)
    os.chown(program, NOBODY, NOBODY)
    assert str(may_execute(program)).startswith(f"{program} belongs to ")
    assert trusted_output([str(program), "-c", ""], 5.0) is None
    assert interpreters.ask("given", program) is None
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert interpreters.find(["3.19"]) == {}
    (line,) = interpreters.refused(["3.19"])
    assert str(line).startswith(f"{program} is not executed: ")
    assert not marker.exists()


def test_a_program_that_others_can_write_to_or_replace_is_refused(tmp_path: Path, marker: Path) -> None:
    program = hostile(tmp_path / "bin/python3.14", marker)
    for path, mode in ((program, 0o757), (program, 0o777), (program.parent, 0o777)):
        path.chmod(mode)
        assert str(may_execute(program)) == f"other users can write to {path}"
        path.chmod(0o755)
    program.parent.chmod(0o1777)  # as /tmp: what is ours there stays ours
    assert not may_execute(program)


@as_root
def test_a_link_of_another_user_to_a_right_program_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "python3.14"
    link.symlink_to(sys.executable)
    assert not may_execute(link)
    os.lchown(link, NOBODY, NOBODY)
    assert str(may_execute(link)).startswith(f"{link} belongs to ")


@as_root
def test_programs_in_another_users_cache_folder_are_not_used(
    tmp_path: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "user/.cache/gilscope"
    monkeypatch.setattr(trust, "CACHE", cache)
    program = cache / "environments/a/bin/python"
    (tmp_path / "user").mkdir()
    assert not trust.may_use(program)
    os.chown(tmp_path / "user", NOBODY, NOBODY)
    assert str(trust.may_use(program)).startswith(f"{tmp_path}/user belongs to ")  # before the program exists, too
    program.parent.mkdir(parents=True)
    program.touch()
    assert str(trust.may_use(program)).startswith(f"{tmp_path}/user belongs to ")
    assert not trust.may_use(tmp_path / "user/checkout/.runtimes/a/bin/python")
    monkeypatch.setattr(environments, "may_use", trust.may_use)
    monkeypatch.setattr(environments, "ENVIRONMENTS", cache / "environments")
    recipe = environments.Recipe(interpreter=interpreter)
    with pytest.raises(environments.EnvironmentFailed, match="Set HOME and XDG_CACHE_HOME to your own"):
        environments.environment(recipe)


def test_a_loop_of_links_is_an_answer_and_no_loop(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert "Too many links" in str(may_execute(tmp_path / "a"))


def test_what_is_executed_is_the_file_that_was_judged(tmp_path: Path) -> None:
    program = Path(shutil.copy2(os.path.realpath("/bin/sh"), tmp_path / "sh"))
    output = trusted_output([str(program), "-c", "readlink /proc/$$/exe"], 60.0)
    assert output == f"{program}\n"
