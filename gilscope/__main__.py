"""The command `gilscope`, and `python -m gilscope`: what `python runner.py` is in a checkout."""

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE if (HERE / "runner.py").is_file() else HERE.parent


def main() -> None:
    """Run runner.py as a script: its folder comes first in the module search path, and the current one is not in it."""
    sys.path[: not sys.flags.safe_path] = [str(ROOT)]
    runpy.run_path(str(ROOT / "runner.py"), run_name="__main__")


if __name__ == "__main__":
    main()
