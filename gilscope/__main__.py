"""The command `gilscope` and `python -m gilscope`, which correspond to `python runner.py` in a
checkout.

The wheel's command calls main(). pyproject.toml names this file.
"""

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# in the wheel, runner.py is in this folder; in a checkout, it is in the folder above
ROOT = HERE if (HERE / "runner.py").is_file() else HERE.parent


def main() -> None:
    """Run runner.py as a script. The script's folder replaces the current folder at the start of
    sys.path.
    """
    # with -P, sys.path has no current folder, so nothing is replaced
    sys.path[: not sys.flags.safe_path] = [str(ROOT)]
    runpy.run_path(str(ROOT / "runner.py"), run_name="__main__")


if __name__ == "__main__":
    main()
