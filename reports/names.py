"""What a report's files are called in a run's folder."""

from config.plan_options import VIEWS
from core.result import COMPARISONS

PAGE = "report.html"
PLOTS = "plots"
TEXTS = ("table.csv", "cells.csv", "findings.md", "table.md", "record.md")


def names_in_folder() -> tuple[str, ...]:
    """Of all files and folders that a run's folder may have beside result.json."""
    return (PAGE, PLOTS, COMPARISONS, *TEXTS, *(f"{view}.md" for view in VIEWS))
