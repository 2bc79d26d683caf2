"""What a system declares, and that those that are there are the four of the specification."""

import re
import subprocess
import sys
from pathlib import Path

from systems import built_in

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_four_systems_come_first_by_number_and_every_other_belongs_to_a_group() -> None:
    assert [system.key for system in built_in() if system.group == "systems"] == ["1", "2", "3", "4"]
    assert {system.group for system in built_in()[:4]} == {"systems"}
    assert {system.group for system in built_in()} == {"systems", "echo", "loadgen", "http-clients", "league"}


def test_finding_a_system_imports_the_one_file_that_declares_it() -> None:
    code = "import sys, systems; systems.find('4'); systems.find('alt-tornado-tcp'); print(*sys.modules)"
    printed = subprocess.check_output([sys.executable, "-c", code], cwd=REPOSITORY, text=True)
    assert re.findall(r"systems\.(\w+)|(\w+)_systems", printed) == [("numbered_systems", ""), ("", "alt")]
