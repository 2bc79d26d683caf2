"""A run as CSV and as Markdown: the same files that its folder holds, written elsewhere."""

from collections.abc import Callable, Mapping
from pathlib import Path

from core.result import Run
from reports.contests.kinds import record_of
from reports.exports.csv_sheets import cells_sheet, rows_sheet
from reports.exports.writing import Exported, written
from reports.findings import findings
from reports.page.texts import TITLES
from reports.record.record import covers_the_seed, record_page
from reports.rows.summary import rows
from reports.rows.view import View, view_of
from reports.words.markdown import table_page


def csv(run: Run, titles: Mapping[str, str], to: Path) -> Exported:
    """cells.csv and table.csv in the folder *to*. Raises BadInput if it cannot be written."""
    texts = {"cells.csv": cells_sheet(run), "table.csv": rows_sheet(rows(run))}
    return _in(to, texts)


def markdown(run: Run, titles: Mapping[str, str], to: Path) -> Exported:
    """table.md, findings.md and the record that the plan asks for, in the folder *to*. Raises BadInput."""
    return _in(to, {name: make() for name, make in markdown_files(view_of(run, titles)).items()})


def markdown_files(view: View, lang: str = "en") -> dict[str, Callable[[], str]]:
    """What makes each Markdown file of a run, by file name. lang: of record.md, en or zh."""
    run, rows = view.run, view.rows
    files: dict[str, Callable[[], str]] = {
        "table.md": lambda: table_page(run, rows, view.titles),
        "findings.md": lambda: findings.markdown(view),
    }
    record = record_of(view)
    if record is not None:
        files[f"{run.plan['view']}.md"] = lambda: record.page(run, rows, view.titles)
    if run.plan["name"] == "record" or covers_the_seed(rows):
        titles = {**view.titles, **TITLES.get(lang, {})}
        files["record.md"] = lambda: record_page(run, rows, titles, lang)
    return files


def _in(folder: Path, texts: Mapping[str, str]) -> Exported:
    return Exported(paths=written({folder / name: text for name, text in texts.items()}))
