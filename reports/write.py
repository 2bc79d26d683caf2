"""Everything that a run leaves in its folder beside result.json."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from core.errors import BadInput, GilscopeError
from core.result import Run
from reports.exports.csv_sheets import cells_sheet, rows_sheet
from reports.exports.texts import markdown_files
from reports.page.build import page
from reports.page.several.build import page_of_several
from reports.rows.view import View, view_of

PAGE = "report.html"
PLOTS = "plots"


class PartsLost(GilscopeError):
    """Files of a report that could not be made. paths: of all the others, which are written."""

    def __init__(self, paths: Sequence[Path], reasons: Sequence[str]) -> None:
        super().__init__(" ".join(reasons))
        self.paths = list(paths)
        self.reasons = list(reasons)


def write_all(run: Run | View, folder: Path, titles: Mapping[str, str] | None = None, lang: str = "en") -> list[Path]:
    """Write page, tables, findings, plots, and record.md where the run has the seed's rows; the paths of all.

    titles: of the systems, by number or name, where *run* is no view that has them. lang: of page and record, en or zh
    Raises BadInput if *folder* cannot be written, and PartsLost when all but some is written: a part that cannot be
    made, which is a fault of ours, loses no other.
    """
    view = view_of(run, titles)
    paths: list[Path] = []
    lost: list[str] = []
    for name, write in _parts(view, folder, lang).items():
        try:
            paths += write()
        except OSError as error:
            raise _unwritable(folder, error) from error
        except Exception as error:
            lost.append(_lost(name, error))
    if lost:
        raise PartsLost(paths, lost)
    return paths


def _lost(name: str, error: Exception) -> str:
    """What could not be made, why, and where in our code, for whoever mends it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    return f"{name} could not be made ({type(error).__name__}: {error}, in {where}); please report that as a bug."


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


def _parts(view: View, folder: Path, lang: str) -> dict[str, Callable[[], list[Path]]]:
    """What writes each part of a report, by its name; it gives back the paths."""
    texts: dict[str, Callable[[], str]] = {
        PAGE: lambda: page(view, lang=lang),
        **markdown_files(view, lang),
        "table.csv": lambda: rows_sheet(view.rows),
        "cells.csv": lambda: cells_sheet(view.run),
    }
    parts = {name: partial(_write_text, make, folder / name) for name, make in texts.items()}
    return {**parts, PLOTS: partial(_write_plots, view, folder / PLOTS)}


def _write_text(make: Callable[[], str], path: Path) -> list[Path]:
    path.write_text(make(), encoding="utf-8")
    return [path]


def _write_plots(view: View, folder: Path) -> list[Path]:
    from reports.plots.draw import figures, save

    folder.mkdir(exist_ok=True)
    made = figures(view.run, view.rows, view.titles)
    return [path for name, figure in made.items() for path in save(figure, name, folder)]
