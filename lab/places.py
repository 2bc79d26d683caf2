"""Where things are in this checkout."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ENVIRONMENTS = REPOSITORY / ".runtimes"
NATIVE_SOURCES = REPOSITORY / "native"
