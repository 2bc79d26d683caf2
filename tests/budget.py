"""Tokens of Python in each top-level folder against its budget in pyproject.toml: `make lint`.

Comments and layout do not count, and a docstring is one token, so that nothing is gained by packing code tighter.
Raising a budget is a commit of its own that says what it buys.
"""

import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYOUT = {"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENCODING", "ENDMARKER"}


def tokens(path: Path) -> int:
    """Return the number of tokens of a file. An f-string is one, as in 3.11: later versions split it into its parts."""
    count = depth = 0
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            name = tokenize.tok_name[token.type]
            if name.endswith("STRING_START"):
                count += not depth
                depth += 1
            elif name.endswith("STRING_END"):
                depth -= 1
            elif not depth and name not in LAYOUT:
                count += 1
    return count


def main() -> int:
    """Print each folder that is over its budget, or has none. Exit status: 1 if there is such a folder."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    used: Counter[str] = Counter()
    for path in map(Path, names):
        if (ROOT / path).exists():
            used[path.parts[0] if len(path.parts) > 1 else "."] += tokens(ROOT / path)
    budget: dict[str, int] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["gilscope"]["budget"]
    over = [folder for folder, count in sorted(used.items()) if count > budget.get(folder, 0)]
    for folder in over:
        print(
            f"{folder} has {used[folder]:,} tokens, but its budget is {budget.get(folder, 0):,}. Remove code, or raise "
            "the budget in pyproject.toml in a commit that says what it buys."
        )
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
