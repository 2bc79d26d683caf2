"""A run as CSV and as Markdown: the same files that its folder holds, written elsewhere."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from core.languages import ENGLISH, Language
from reports.document.model import Document
from reports.exports.csv_sheets import cells_sheet, rows_sheet
from reports.exports.writing import Exported, written
from reports.record import covers_the_seed, record
from reports.render.markdown import markdown as rendered
from reports.report import report
from reports.view import View

Texts = dict[str, Callable[[], str]]
TABLE, RECORD = "results", "record"


def csv(view: View, to: Path) -> Exported:
    """cells.csv and table.csv in the folder *to*. Raises BadInput if it cannot be written."""
    return _in(to, csv_files(view))


def markdown(view: View, to: Path) -> Exported:
    """table.md, findings.md and the record that the plan asks for, in the folder *to*. Raises BadInput."""
    return _in(to, markdown_files(view, report(view), ENGLISH))


def csv_files(view: View) -> Texts:
    """What makes each CSV file of a run, by file name."""
    return {"table.csv": lambda: rows_sheet(view.rows), "cells.csv": lambda: cells_sheet(view.run)}


def markdown_files(view: View, document: Document, language: Language) -> Texts:
    """What makes each Markdown file of a run, by file name. document: its report

    findings.md is the whole report; table.md and VIEW.md (echo.md, ...) are single topics of it.
    """
    files: Texts = {
        "findings.md": lambda: rendered(document, language),
        "table.md": lambda: rendered(_topic(document, TABLE), language),
    }
    if view.plan.view:
        files[f"{view.plan.view}.md"] = lambda: rendered(_topic(document, RECORD), language)
    if view.plan.name == "record" or covers_the_seed(view.rows):
        files["record.md"] = lambda: rendered(record(view), language)
    return files


def _topic(document: Document, key: str) -> Document:
    return replace(document, sections=tuple(section for section in document.sections if section.key == key))


def _in(folder: Path, files: Texts) -> Exported:
    return Exported(paths=written({folder / name: make() for name, make in files.items()}))
