"""A run as CSV and as Markdown: the same files that its folder holds, written elsewhere; and as JSON, with figures."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.languages import ENGLISH, Language
from core.result import to_json
from reports.document.model import Document
from reports.exports.csv_sheets import cells_sheet, rows_sheet
from reports.exports.writing import Exported, written
from reports.facts.figures import SHOWN
from reports.record import covers_the_seed, record
from reports.render.markdown import markdown as rendered
from reports.report import report
from reports.view import View

Texts = dict[str, Callable[[], str]]


def csv(view: View, to: Path) -> Exported:
    """Write cells.csv and table.csv into the folder *to*. Raises BadInput if they cannot be written."""
    return written({to / name: make() for name, make in csv_files(view).items()})


def markdown(view: View, to: Path) -> Exported:
    """Write table.md, findings.md and the record that the plan asks for into the folder *to*. Raises BadInput."""
    return written({to / name: make() for name, make in markdown_files(view, report(view), ENGLISH).items()})


def as_json(view: View) -> dict[str, Any]:
    """Return the run as its file holds it, and `figures`: those of each row, by name and with their units.

    core.result.load reads the text of it as it reads result.json.
    """
    units = {one.row_name: one.unit for one, _ in SHOWN}
    rows = [
        {
            "system": row.system,
            "runtime": row.runtime,
            "params": dict(row.params),
            "status": row.state,
            "figures": {name: {"value": value, "unit": units.get(name, "")} for name, value in row.columns.items()},
        }
        for row in view.rows
    ]
    return {**to_json(view.run), "figures": rows}


def csv_files(view: View) -> Texts:
    """Return what makes each CSV file of a run, by file name."""
    return {"table.csv": lambda: rows_sheet(view.rows), "cells.csv": lambda: cells_sheet(view.run)}


def markdown_files(view: View, document: Document, language: Language) -> Texts:
    """Return what makes each Markdown file of a run, by file name. document: its report

    findings.md is the whole report; table.md and VIEW.md (echo.md, ...) are single topics of it.
    """

    def topic(key: str) -> str:
        sections = tuple(section for section in document.sections if section.key == key)
        return rendered(replace(document, sections=sections), language)

    files: Texts = {"findings.md": lambda: rendered(document, language), "table.md": lambda: topic("results")}
    if view.plan.view:
        files[f"{view.plan.view}.md"] = lambda: topic("record")
    if view.plan.name == "record" or covers_the_seed(view.rows):
        files["record.md"] = lambda: rendered(record(view), language)
    return files
