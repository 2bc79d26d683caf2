"""`runner.py audit` as it is called; what it finds is tested in tests/lab/project/test_audit.py."""

import json
from pathlib import Path

import pytest

from commands.audit import audit_document, main
from core.messages import BadInput, verbatim
from lab.project.package_audit import PackageFinding, Problem
from lab.python import uv
from reports.document import Table
from tests.conftest import runtime_or_skip
from tests.lab.wheels import wheel

pytestmark = pytest.mark.skipif(uv.find() is None, reason="audit installs with uv; make setup has it")


def test_a_package_that_passes_exits_with_0_also_if_the_folder_of_a_project_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime_or_skip("3.14t")
    plain = wheel(tmp_path, "plain", {"plain.py": b"x = 1\n"})
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "shop"\nversion = "1"\ndependencies = ["plain"]\n'
        f'[[tool.uv.index]]\nurl = "{tmp_path.as_uri()}"\nformat = "flat"\ndefault = true\n'
    )
    for asked in (["--package", str(plain)], ["-r", str(tmp_path)]):
        assert main(asked) == 0
        assert "0 of 1 packages are not ready" in capsys.readouterr().out


def test_one_that_does_not_pass_exits_with_3_and_json_has_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime_or_skip("3.14t")
    wheel(tmp_path, "raising", {"raising.py": b"1 / 0\n"})
    (tmp_path / "requirements.txt").write_text(f"--no-index\n--find-links {tmp_path}\nraising\n")
    assert main(["-r", str(tmp_path / "requirements.txt"), "--json"]) == 3
    (package,) = json.loads(capsys.readouterr().out)["packages"]
    assert "ZeroDivisionError" in package["problems"][0]["detail"]


def test_the_table_has_all_packages_but_dependencies_in_pure_python_and_says_how_many_those_are() -> None:
    findings = [
        PackageFinding(package="asked"),
        PackageFinding(package="compiled", modules=("compiled",), direct=False),
        PackageFinding(package="pure", direct=False),
        PackageFinding(package="plain", direct=False),
    ]
    (section,) = audit_document(findings, "3.14t", "3.14.0").sections
    ((_, lines),) = section.tables[0].groups
    assert [str(line[0].words) for line in lines] == ["asked", "compiled"]
    assert str(section.notes[1]).startswith("The other 2 packages are dependencies in pure Python")
    assert len(audit_document(findings[:2], "3.14t", "3.14.0").sections[0].notes) == 1


def test_a_terminal_shows_the_packages_that_are_not_ready_with_their_reasons() -> None:
    why = Problem(kind="no wheel", detail=verbatim("none"))
    findings = [PackageFinding(package="fine"), PackageFinding(package="old", needed_by=("fine",), problems=(why,))]
    (section,) = audit_document(findings, "3.14t", "3.14.0").sections
    shown, *sentences = section.terminal
    assert isinstance(shown, Table)
    assert [[str(one.words) for one in line] for line in shown.lines] == [["old", "", "no wheel", "fine"]]
    assert [str(one).partition(". ")[0] for one in sentences] == [
        "old: none", "1 of 2 packages is not ready for the free-threaded build",
    ]  # fmt: skip


REFUSED = {
    "-r /": "/ names no package",
    "--package a -r b": "Name either a folder, or packages",
    "--package a --runtime 3.14": "whose GIL is always on",
    "--package a --runtime 3.99t": "Runtime 3.99t was not found",
    "-r none.txt": "none.txt cannot be read",
}


@pytest.mark.parametrize(("line", "why"), REFUSED.items())
def test_what_cannot_be_audited_is_refused(line: str, why: str) -> None:
    runtime_or_skip("3.14")
    runtime_or_skip("3.14t")
    with pytest.raises(BadInput, match=why):
        main(line.split())
