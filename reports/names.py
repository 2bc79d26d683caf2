"""What a report's files are called in a run's folder."""

from collections.abc import Iterable

from core.result import COMPARISONS, PLOTS, PROFILES

PAGE = "report.html"
STRESS, STRESS_TEXT, STRESS_PAGE = "stress.json", "stress.md", "stress.html"
TEXTS = ("table.csv", "cells.csv", "findings.md", "table.md", "record.md")


def names_in_folder(views: Iterable[str]) -> tuple[str, ...]:
    """Of all files and folders that a run's folder may have beside result.json. views: those that a plan may name"""
    stress = (STRESS, STRESS_TEXT, STRESS_PAGE)
    return (PAGE, PLOTS, PROFILES, COMPARISONS, *stress, *TEXTS, *(f"{view}.md" for view in views))
