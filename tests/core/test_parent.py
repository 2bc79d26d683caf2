"""A process that ends when its parent does."""

import signal
import subprocess
import sys

import pytest

ENDS = "import os, signal; from core.parent import die_with_parent; die_with_parent({parent}, signal.SIGTERM); print(1)"


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
@pytest.mark.parametrize(("parent", "status"), [("os.getppid()", 0), ("os.getpid()", -signal.SIGTERM)])
def test_a_process_whose_parent_has_ended_before_it_asked_ends_at_once(parent: str, status: int) -> None:
    assert subprocess.run([sys.executable, "-c", ENDS.format(parent=parent)], check=False).returncode == status
