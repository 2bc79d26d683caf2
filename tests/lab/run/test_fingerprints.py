"""What a cell was measured with: any change is told from none, and named."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.gates import mixed
from core.fingerprint import CODE, environment_changes
from core.messages import listed
from lab.digests import tree_digest
from lab.run import experiment, fingerprints
from lab.run.fingerprints import Fingerprinter
from lab.run.runs import check_unchanged, count_unmeasured
from record.saved_run import CellResult
from systems import find
from tests.config.planning import planned
from tests.lab.run.test_experiment import Journal, journal, runtime

__all__ = ["journal"]


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one measured file."""
    (tmp_path / "services").mkdir()
    (tmp_path / "services/cached.py").write_text("A = 1\n")
    monkeypatch.setattr(fingerprints, "REPOSITORY", tmp_path)
    return tmp_path / "services"


def test_going_on_with_edited_code_is_refused_with_the_file(journal: Journal, services: Path) -> None:
    run, order = journal.begin(), journal.order
    journal.stop_at = 3
    with pytest.raises(KeyboardInterrupt):
        journal.carry_out(run)
    check_unchanged(run, order)
    (services / "cached.py").write_text("A = 2\n")
    (services / "new.py").write_text("")
    with pytest.raises(Exception, match=r"services/cached\.py changed; services/new\.py is new"):
        check_unchanged(run, order)
    journal.stop_at = 0
    journal.carry_out(run)
    assert [cell.code for cell in run.cells] == [run.cells[0].code] * 2 + [run.cells[-1].code] * 10
    assert len(run.fingerprints[CODE]) == 2
    assert "2 different versions" in str(mixed(run.cells))
    check_unchanged(run, order)
    assert count_unmeasured(run) == 0


def test_code_that_changes_while_a_cell_is_measured_makes_it_invalid(
    journal: Journal, services: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edited(*arguments: Any) -> list[CellResult]:
        (services / "cached.py").write_text("A = 3\n")
        return journal.measure_in_slices(*arguments)

    monkeypatch.setattr(experiment, "measure_in_slices", edited)
    run = journal.carry_out()
    assert [cell.status for cell in run.cells] == ["invalid"] + ["ok"] * 11
    assert "services/cached.py changed" in str(run.cells[0].reason)


def test_packages_that_changed_are_named_with_both_versions() -> None:
    before = {"service": {"packages": {"tornado": "6.4", "old": "1"}, "installed": "a"}}
    now = {"service": {"packages": {"tornado": "6.5"}, "installed": "b"}}
    changes = str(listed(environment_changes(before, now, "3.14t")))
    assert "tornado changed from 6.4 to 6.5 (under 3.14t)" in changes
    assert "old changed from 1 to not installed" in changes
    same_versions = {"service": {**before["service"], "installed": "b"}}
    assert len(environment_changes(before, same_versions, "3.14t")) == 1


def test_a_package_edited_in_place_is_another_environment(tmp_path: Path) -> None:
    module = tmp_path / "lib/python3.14/site-packages/tornado.py"
    module.parent.mkdir(parents=True)
    module.write_text("A = 1")
    system = find("3")
    runtimes = {"3.14": replace(runtime("3.14"), pythons={system.requirements: tmp_path / "bin/python"})}
    plan = planned("--system 3 --runtime 3.14")
    taken = Fingerprinter(plan, runtimes, {})
    cell = plan.cells()[0]
    before = taken.of(cell, system)
    assert taken.of(cell, system) == before
    module.write_text("A = 2")
    after = taken.of(cell, system)
    assert (after["code"] == before["code"], after["environment"] == before["environment"]) == (True, False)


def test_what_tools_make_has_no_say_in_the_digest_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    before = tree_digest(tmp_path)
    for made in (".git", "__pycache__", "build", "shop.egg-info"):
        (tmp_path / made).mkdir()
        (tmp_path / made / "x").touch()
    assert tree_digest(tmp_path) == before
