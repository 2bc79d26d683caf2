"""Runs commands of gilscope, each in a fork of one warm process, with a fault at one system call (faults.c).

A line of JSON on stdin is a command; its exit status is a line on stdout. The end of stdin is the end. A run measures
and saves, and leaves the report to the command report.
"""

import ctypes
import json
import os
import signal
import sys
import traceback
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import reports.write
import runner

DEADLINE_S = 300  # far above what a command takes


def main(warming: list[str]) -> None:
    """warming: a command that is played once for the libraries that it imports"""
    os.environ.pop("LD_PRELOAD", None)  # for what it starts
    with redirect_stdout(StringIO()):
        runner.main(warming)
    print("warm", flush=True)
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            _play(json.loads(line))
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(status, flush=True)


def _opened(folder: str, name: str) -> int:
    return os.open(os.path.join(folder, name), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)


def _play(case: Mapping[str, Any]) -> None:
    """Ends this process."""
    status = 70
    try:
        signal.alarm(DEADLINE_S)
        for number, name in enumerate((os.devnull, "stdout", "stderr")):
            os.dup2(_opened(case["outputs"], name), number)
        log = _opened(case["outputs"], "log")
        ctypes.CDLL(None).faults_arm(os.fsencode(case["folder"]), case["site"], case["fault"], log)
        if case["arguments"][0] != "report":
            reports.write.write_all = lambda *_: []
        status = runner.main(case["arguments"])
        sys.stdout.flush()
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
