"""How systems are found."""

import re
import subprocess
import sys

from lab.places import REPOSITORY


def test_finding_a_system_imports_the_one_file_that_declares_it() -> None:
    code = "import sys, systems; systems.find('4'); systems.find('alt-tornado-tcp'); print(*sys.modules)"
    printed = subprocess.check_output([sys.executable, "-c", code], cwd=REPOSITORY, text=True)
    assert re.findall(r"systems\.(\w+)|(\w+)_systems", printed) == [("numbered_systems", ""), ("", "alt")]
