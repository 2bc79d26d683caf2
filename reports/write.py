"""Everything that a run leaves in its folder beside result.json."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import BadInput
from core.result import Run
from reports import findings
from reports.markdown import table_page
from reports.record import covers_the_seed, record_page
from reports.sheets import cells_sheet, rows_sheet
from reports.summary import Row, rows

PLOTS = "plots"


def write_all(run: Run, folder: Path, titles: Mapping[str, str]) -> list[Path]:
    """Write tables, findings, plots, and record.md where the run has the seed's rows; the paths of all.

    titles: of the systems, by number or name
    Raises BadInput if *folder* cannot be written.
    """
    all_rows = rows(run)
    try:
        return [
            *_write_texts(_texts(run, all_rows, titles), folder),
            *_write_plots(run, all_rows, folder / PLOTS, titles),
        ]
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be written: {error.strerror or error}; make room or give write access."
        ) from error


def _texts(run: Run, all_rows: Sequence[Row], titles: Mapping[str, str]) -> dict[str, str]:
    texts = {
        "table.md": table_page(run, all_rows, titles),
        "table.csv": rows_sheet(all_rows),
        "cells.csv": cells_sheet(run),
        "findings.md": findings.markdown(run),
    }
    if run.plan["name"] == "record" or covers_the_seed(all_rows):
        texts["record.md"] = record_page(run, all_rows, titles)
    return texts


def _write_texts(texts: Mapping[str, str], folder: Path) -> list[Path]:
    paths = []
    for name, text in texts.items():
        paths.append(folder / name)
        paths[-1].write_text(text, encoding="utf-8")
    return paths


def _write_plots(run: Run, all_rows: Sequence[Row], folder: Path, titles: Mapping[str, str]) -> list[Path]:
    from reports.plots.draw import figures, save

    folder.mkdir(exist_ok=True)
    return [path for name, figure in figures(run, all_rows, titles).items() for path in save(figure, name, folder)]
