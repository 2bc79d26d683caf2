"""Everything that a run leaves in its folder beside result.json."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import BadInput
from core.result import Run
from reports.exports.texts import markdown_texts
from reports.page.build import page
from reports.page.several.build import page_of_several
from reports.sheets import cells_sheet, rows_sheet
from reports.view import View, view_of

PAGE = "report.html"
PLOTS = "plots"


def write_all(run: Run | View, folder: Path, titles: Mapping[str, str] | None = None, lang: str = "en") -> list[Path]:
    """Write page, tables, findings, plots, and record.md where the run has the seed's rows; the paths of all.

    titles: of the systems, by number or name, where *run* is no view that has them. lang: of page and record, en or zh
    Raises BadInput if *folder* cannot be written.
    """
    view = view_of(run, titles)
    try:
        return [*_write_texts(_texts(view, lang), folder), *_write_plots(view, folder / PLOTS)]
    except OSError as error:
        raise _unwritable(folder, error) from error


def write_several(views: Sequence[View], path: Path, lang: str = "en") -> Path:
    """Write the page of several runs to *path*, and give that back. Raises BadInput if it cannot be written."""
    text = page_of_several(views, lang=lang)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def _unwritable(where: Path, error: OSError) -> BadInput:
    return BadInput(f"{where} cannot be written: {error.strerror or error}; make room or give write access.")


def _texts(view: View, lang: str) -> dict[str, str]:
    sheets = {"table.csv": rows_sheet(view.rows), "cells.csv": cells_sheet(view.run)}
    return {PAGE: page(view, lang=lang), **markdown_texts(view, lang), **sheets}


def _write_texts(texts: Mapping[str, str], folder: Path) -> list[Path]:
    paths = []
    for name, text in texts.items():
        paths.append(folder / name)
        paths[-1].write_text(text, encoding="utf-8")
    return paths


def _write_plots(view: View, folder: Path) -> list[Path]:
    from reports.plots.draw import figures, save

    folder.mkdir(exist_ok=True)
    made = figures(view.run, view.rows, view.titles)
    return [path for name, figure in made.items() for path in save(figure, name, folder)]
