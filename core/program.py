"""gilscope's version, the command that starts it, and its default folder of runs.

The wheel's metadata reads the version from here. Command and folder differ between a checkout and a
wheel. Outside the checkout, they have absolute paths, so that users can copy the commands that
gilscope prints.

Messages, help and the search for saved runs use these values. Measured processes do not import this
module.
"""

import os
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = not (ROOT / "pyproject.toml").is_file()  # a wheel does not contain this file
SCRIPT = "gilscope" if INSTALLED else "runner.py"
# of SCRIPT; empty in the folder of the checkout, where commands need no path
_PLACE = (
    Path() if os.path.isfile(SCRIPT) and os.path.realpath(SCRIPT) == str(ROOT / SCRIPT) else ROOT
)
# how a user starts gilscope: the words before the command
PROGRAM = SCRIPT if INSTALLED else f"python {shlex.quote(str(_PLACE / SCRIPT))}"
# RUNS_FOLDER is for messages, RUNS for access to the files.
RUNS_FOLDER = "gilscope-runs" if INSTALLED else str(_PLACE / "reports" / "out")
RUNS = Path(RUNS_FOLDER) if INSTALLED else ROOT / RUNS_FOLDER


# hatchling finds this line by the pattern in pyproject.toml
VERSION = "0.1.0"
