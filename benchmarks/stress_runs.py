"""Does `runner.py stress` find each planted fault, and nothing in a sound service? See docs/why.md.

Usage: python -m benchmarks.stress_runs [--runs 20] [--seconds 60] [--faults sound,race]

Each run is the command as a user calls it. A sound service must exit with 0, the others with 1.
"""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import monotonic

from benchmarks.stress_service import Handler
from lab.places import REPOSITORY

SOUND = "sound"
FAULTS = tuple(path.removeprefix("/") for path in Handler.faults)


def main() -> int:
    """Print, for each fault, how many runs ended as they must; 1 if one did not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--faults", default=",".join(FAULTS))
    given = parser.parse_args()
    missed = 0
    for fault in given.faults.split(","):
        began_s = monotonic()
        statuses = Counter(stressed(fault, given.seconds) for _ in range(given.runs))
        right = statuses[0 if fault == SOUND else 1]
        missed += given.runs - right
        each_s = (monotonic() - began_s) / given.runs
        print(f"{fault:<10} {right} of {given.runs}, {each_s:.1f} s each; by exit status: {dict(statuses)}", flush=True)
    return 1 if missed else 0


def stressed(fault: str, seconds: float) -> int:
    """The exit status of one run."""
    with tempfile.TemporaryDirectory() as folder:
        service = f"{{python}} {Path(__file__).with_name('stress_service.py')} {{port}}"
        request = ["--service-command", service, "--request", f"GET /{fault}"]
        command = [sys.executable, "runner.py", "stress", *request, "--seconds", str(seconds), "--quiet"]
        return subprocess.run(
            [*command, "--out", f"{folder}/out"], cwd=REPOSITORY, stdout=subprocess.DEVNULL, check=False
        ).returncode


if __name__ == "__main__":
    raise SystemExit(main())
