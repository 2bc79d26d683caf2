"""How often --profile locks names the planted owner and line first, and claims nothing where nothing is planted.

Usage: python -m benchmarks.locks_planted [--runs N]: a Markdown table. Needs what --profile locks needs, and 3.14t.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from lab.places import REPOSITORY
from lab.profile.lock_report import LockReport
from lab.profile.locks import LockFacts, LockRecording, obstacle
from lab.python.interpreters import find

SERVICES = REPOSITORY / "tests" / "lab" / "profile" / "planted" / "services.py"
ROUNDS, DEADLINE_S = 100, 60.0
PLANTED = {
    "shared_dict_under_one_key": ("dict", "shared_dict_under_one_key"),
    "shared_list_appended": ("list", "shared_list_appended"),
    "function_attributes": ("", "update_wrapper"),
    "nothing_shared": None,
}


def main() -> None:
    """Print a line for each planted case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    if why_not := obstacle():
        sys.exit(str(why_not))
    python = find(["3.14t"])["3.14t"].executable
    print("| planted | right |\n|---|---|")
    for name, first in PLANTED.items():
        right = sum(_first(_watched(python, name)) == first for _ in range(runs))
        print(f"| {name} | {right} of {runs} |", flush=True)


def _watched(python: Path, name: str) -> LockFacts:
    command = [str(python), str(SERVICES), name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as service:
        assert service.stdout
        service.stdout.readline()
        with LockRecording(service.pid) as recording:
            recording.wait_for(ROUNDS, DEADLINE_S)
        service.kill()
    assert recording.facts
    return recording.facts


def _first(facts: LockFacts) -> tuple[str, str] | None:
    """The owner and function of what is claimed first; None where nothing is, as if all the time were of requests."""
    sentence = str(LockReport(facts=facts, requests=1.0, in_flight_ns=facts.watched_ns).sentence())
    if sentence.startswith("no contended lock"):
        return None
    first = (facts.stopping or facts.waits)[0]
    return first.owner, first.stack[0].function


if __name__ == "__main__":
    main()
