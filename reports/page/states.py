"""What became of a row or a cell that has no figures, in the page's language. Pure."""

from collections.abc import Mapping

from reports.rows.summary import Row, reasons
from reports.words.translation import said

Words = Mapping[str, str]


def status(name: str, words: Words) -> str:
    """ok, failed, invalid or not measured in the page's language."""
    return words["status_" + name.replace(" ", "_")]


def trouble(row: Row, words: Words, lang: str) -> str:
    """How many of its blocks are not ok, and the first reason; or that it was not measured."""
    parts = []
    for name in ("failed", "invalid"):
        bad = [cell for cell in row.bad if cell.status == name]
        if bad:
            first, *others = reasons(bad)
            more = words["more_reasons"].format(count=len(others)) if others else ""
            told = words["blocks_of"].format(count=len(bad), all=len(row.cells), status=status(name, words))
            parts.append(f"{told}{said(first, lang)}{more}")
    return words["full_stop_between"].join(parts) or status(row.state, words)
