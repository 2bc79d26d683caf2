"""Cleans up after a run that was killed: removes its folder and ends every process of its group, itself last.

Usage: janitor.py FOLDER, as leader of the process group, with a pipe from the orchestrator on stdin.
"""

import os
import shutil
import signal
import sys


def main() -> None:
    """Wait until the orchestrator closes the pipe, by finishing or by dying."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    sys.stdin.buffer.read()
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
