"""Commands of a run as one types them: to repeat it, and to go on with it in its own folder."""

import shutil
from pathlib import Path

from record.run_file import RunFile, load
from reports.command_lines import resume_command
from tests.reports.sample import run_of


def test_a_run_goes_on_in_its_own_folder_also_after_it_was_moved(tmp_path: Path) -> None:
    RunFile(tmp_path / "first").save(run_of([]))
    shutil.move(tmp_path / "first", tmp_path / "a b")
    assert resume_command(load(tmp_path / "a b")) == f"python runner.py --resume '{tmp_path / 'a b'}'"
