"""Cleans up after a run that was killed: ends every process of its group, removes its folder, and ends itself.

Usage: reaper.py FOLDER, as leader of the process group, with a pipe from the orchestrator on stdin. One byte on
stdout says that it is on guard.
"""

import os
import shutil
import signal
import sys

TRIES = 1000


def main() -> None:
    """Wait until the orchestrator closes the pipe, by finishing or by dying."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.write(1, b".")
    os.close(1)
    sys.stdin.buffer.read()
    leads = os.getpgrp() == os.getpid()
    if leads:
        os.killpg(0, signal.SIGTERM)  # the children do not handle it; whatever does, ends below
    for _ in range(TRIES):  # a child that is just ending may still make a file
        shutil.rmtree(sys.argv[1], ignore_errors=True)
        if not os.path.lexists(sys.argv[1]):
            break
    if leads:
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
