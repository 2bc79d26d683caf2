"""gilscope's version, the command that starts it, and its default folder of runs.

The wheel's metadata reads the version from here. Command and folder differ between a checkout and a wheel.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = not (ROOT / "pyproject.toml").is_file()  # a wheel does not contain this file
PROGRAM = "gilscope" if INSTALLED else "python runner.py"
RUNS_FOLDER = "gilscope-runs" if INSTALLED else "reports/out"


VERSION = "0.1.0"
