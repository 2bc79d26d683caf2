"""Tokens of Python in each top-level folder against its budget in pyproject.toml: `make lint`.

Comments and layout do not count, and a docstring is one token, so that nothing is gained by packing code tighter.
Raising a budget is a commit of its own that says what it buys. Nor may code be dense: outside of tests, no
comprehension holds another one or a conditional expression, and a line of code has at most 8.0 tokens on average.
"""

import ast
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DENSEST = 8.0  # tokens a line of code
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LAYOUT = {"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENCODING", "ENDMARKER"}


def tokens_and_lines(path: Path) -> tuple[int, int]:
    """Return the numbers of tokens of a file, and of lines on which one begins.

    An f-string is one token, as in 3.11: later versions split it into its parts.
    """
    count = depth = 0
    lines: set[int] = set()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            name = tokenize.tok_name[token.type]
            if name in LAYOUT:
                continue
            lines.add(token.start[0])
            if name.endswith("STRING_END"):
                depth -= 1
            else:
                count += not depth
                depth += name.endswith("STRING_START")
    return count, len(lines)


def packed(path: Path) -> list[int]:
    """Return the lines of a file with a comprehension that holds another one, or a conditional expression."""
    found = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, COMPREHENSIONS)]
    dense = (*COMPREHENSIONS, ast.IfExp)
    return [node.lineno for node in found if any(isinstance(held, dense) for held in [*ast.walk(node)][1:])]


def main() -> int:
    """Print each folder that is over its budget, and code that is too dense. Exit status: 1 if there is any."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    counts = {path: tokens_and_lines(ROOT / path) for path in map(Path, names) if (ROOT / path).exists()}
    used: Counter[str] = Counter()
    for path, (tokens, _) in counts.items():
        used[path.parts[0] if len(path.parts) > 1 else "."] += tokens
    budget: dict[str, int] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["gilscope"]["budget"]
    code = [path for path in counts if path.parts[0] != "tests"]
    dense = [f"{path}:{line}" for path in code for line in packed(ROOT / path)]
    for place in dense:
        print(f"{place}: a comprehension holds another one, or a conditional expression. Write a loop or a function.")
    density = (used.total() - used["tests"]) / sum(counts[path][1] for path in code)
    if density > DENSEST:
        print(f"A line of code has {density:.2f} tokens, but may have {DENSEST}. Write calmer lines.")
    over = [folder for folder, count in sorted(used.items()) if count > budget.get(folder, 0)]
    for folder in over:
        print(
            f"{folder} has {used[folder]:,} tokens, but its budget is {budget.get(folder, 0):,}. Remove code, or raise "
            "the budget in pyproject.toml in a commit that says what it buys."
        )
    return bool(over or dense or density > DENSEST)


if __name__ == "__main__":
    sys.exit(main())
