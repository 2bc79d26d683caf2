"""What a user types to start gilscope, and where its runs go: of a checkout, or of an installed wheel."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = not (ROOT / "pyproject.toml").is_file()  # a wheel has none
PROGRAM = "gilscope" if INSTALLED else "python runner.py"
RUNS_FOLDER = "gilscope-runs" if INSTALLED else "reports/out"
