"""How large the project is: lines of Python by package. python -m benchmarks.sizes [REVISION]"""

import subprocess
import sys
from collections import Counter
from pathlib import PurePosixPath

TESTS = "tests"


def lines_by_package(revision: str) -> Counter[str]:
    """{package: lines of Python} of everything that git tracks at *revision*, or in the work tree for ""."""
    listing = ["git", "ls-tree", "-r", "--name-only", revision] if revision else ["git", "ls-files"]
    paths = [path for path in _output(listing).splitlines() if path.endswith(".py")]
    counts: Counter[str] = Counter()
    for path in paths:
        counts[PurePosixPath(path).parts[0]] += _lines(revision, path)
    return counts


def _lines(revision: str, path: str) -> int:
    if revision:
        return _output(["git", "show", f"{revision}:{path}"]).count("\n")
    try:
        with open(path, encoding="utf-8") as file:
            return sum(1 for _ in file)
    except FileNotFoundError:  # deleted, and not committed yet
        return 0


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(arguments: list[str]) -> int:
    """Print a line for each package, then the sums without and with tests."""
    counts = lines_by_package(arguments[0] if arguments else "")
    for package, lines in counts.most_common():
        print(f"{lines:8,}  {package}")
    total = counts.total()
    print(f"{total - counts[TESTS]:8,}  all but tests\n{total:8,}  all")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
