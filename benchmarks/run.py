"""All benchmarks of our own parts that need nothing from outside: `make bench`.

Usage: python -m benchmarks.run [--runtime NAMES]
"""

import argparse
import subprocess
import sys

from lab.python import interpreters
from lab.run.runtimes import present

ALONE = ("parts", "start_up")
RUNTIMES = ("3.11", "3.14", "3.14t+gil", "3.14t")


def main() -> int:
    """Run each benchmark under the runtimes that are present."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", help="runtimes with commas (default: those that are present)")
    given = parser.parse_args()
    names = given.runtime or ",".join(present(RUNTIMES, interpreters.find(RUNTIMES)))
    status = 0
    for name in ALONE:
        print(f"\n## {name}\n", flush=True)
        status |= subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}", "--runtime", names], check=False
        ).returncode
    return status


if __name__ == "__main__":
    raise SystemExit(main())
