"""A system in a file outside the repository: what is loaded; refused.txt has what is refused."""

import sys
from pathlib import Path

import pytest

from config.run_plan import Plan, PlanRow, find_system
from core.messages import BadInput
from core.runtime import RuntimeName
from systems import load_system
from tests.config.planning import BARE, OWN, SMALL


@pytest.fixture(autouse=True)
def own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])


def written(path: Path, more: str = "", before: str = "", declares: str = SMALL) -> Path:
    path.write_text(f"{before}{declares}{more})")
    return path


def test_a_file_is_found_by_its_path_and_not_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "my_system.py")
    system = find_system("my_system.py", tmp_path)
    assert (system.key, system.file, find_system("4").file) == ("small", str(path), "")
    monkeypatch.chdir(tmp_path)
    assert find_system("my_system.py").file == str(path)
    with pytest.raises(BadInput, match="System 'small' is not known"):
        find_system("small")
    with pytest.raises(BadInput, match=r"^/nowhere/my_system.py does not exist"):
        find_system("/nowhere/my_system.py")


def test_a_file_imports_from_its_own_folder_and_declares_dataclasses(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("TITLE = 'told beside'\n")
    before = "from __future__ import annotations\nfrom dataclasses import dataclass\nimport beside_it\n"
    before += "@dataclass(frozen=True, kw_only=True)\nclass Point:\n    x: int = 0\n"
    path = written(tmp_path / "my_system.py", before=before)
    path.write_text(path.read_text().replace('"A small one"', "beside_it.TITLE"))
    assert load_system(path).title == "told beside"


def test_requirements_beside_the_file_are_named_by_their_path_and_others_are_the_repositorys(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    mine = load_system(written(tmp_path / "a.py", ', requirements="mine.txt"'))
    theirs = load_system(written(tmp_path / "b.py", ', requirements="requirements/tornado.txt"'))
    assert mine.requirements == str(tmp_path / "mine.txt")
    assert theirs.requirements == "requirements/tornado.txt"


@pytest.mark.parametrize("line", ["serve -> does not say where to listen", "a {prt} -> placeholder {prt}"])
def test_a_command_that_cannot_be_started_is_refused_at_once(tmp_path: Path, line: str) -> None:
    command, words = line.split(" -> ")
    path = written(tmp_path / "my_system.py", f', command="{command}", {OWN}', declares=BARE)
    with pytest.raises(BadInput, match=words):
        find_system(str(path))


def test_clients_of_gilscope_send_at_a_rate_and_only_its_own_protocols_ask_for_a_calculation(tmp_path: Path) -> None:
    small = find_system(str(written(tmp_path / "a.py"))).parameters
    (tmp_path / "b.py").write_text(f'{BARE}, command="a {{port}}", {OWN})')
    (tmp_path / "c.py").write_text(f'{BARE}, service="a:b", client="a:c")')
    own, looped = (find_system(str(tmp_path / name)).parameters for name in ("b.py", "c.py"))
    assert ("RATE" in small, "RATE" in own, "RATE" in looped) == (True, True, False)
    assert {*small} - {*own} == {"CALC_TARGET", "PAYLOAD_BYTES"}


def test_two_files_cannot_declare_the_same_system(tmp_path: Path) -> None:
    first, second = (find_system(str(written(tmp_path / name))) for name in ("a.py", "b.py"))
    rows = tuple(PlanRow(system=system, values={}) for system in (first, second))
    with pytest.raises(BadInput, match=f"{first.file} and {second.file} both declare the system 'small'"):
        Plan(name="p", rows=rows, runtimes=(RuntimeName("3.14"),))
