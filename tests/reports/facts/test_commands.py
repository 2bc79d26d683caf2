"""Commands of a run as one types them: to repeat it, and to go on with it in its own folder."""

from dataclasses import replace

import pytest

from reports.facts.commands import resume_command
from tests.reports.sample import run_of


@pytest.mark.parametrize(
    ("command", "resumed"),
    [
        (["runner.py", "--out", "run-base"], "python runner.py --resume run-base"),
        (["runner.py", "--out=/tmp/a b", "--system", "4"], "python runner.py --resume '/tmp/a b'"),
    ],
)
def test_a_run_goes_on_in_the_folder_it_was_begun_in(command: list[str], resumed: str) -> None:
    assert resume_command(replace(run_of([]), command=command)) == resumed
