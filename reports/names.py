"""Names of the files that a report writes to a run's folder."""

from collections.abc import Iterable

from core.result import COMPARISONS, PLOTS, PROFILES

PAGE = "report.html"
STRESS, STRESS_TEXT, STRESS_PAGE = "stress.json", "stress.md", "stress.html"
TEXTS = ("table.csv", "cells.csv", "findings.md", "table.md", "record.md")


def names_in_folder(views: Iterable[str]) -> tuple[str, ...]:
    """Return the names of all files and folders that a run's folder may contain besides result.json.

    views: the values that a plan's `view` may have
    """
    stress = (STRESS, STRESS_TEXT, STRESS_PAGE)
    return (PAGE, PLOTS, PROFILES, COMPARISONS, *stress, *TEXTS, *(f"{view}.md" for view in views))
