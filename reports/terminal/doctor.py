"""The findings of `runner.py doctor` on the terminal."""

from collections.abc import Sequence
from typing import Protocol

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from core.messages import Message

WORDS = {True: ("ok", "green"), False: ("look", "yellow"), None: ("not known", "dim")}


class Finding(Protocol):
    """One thing that was looked at; good None: it cannot be known here."""

    @property
    def name(self) -> Message: ...

    @property
    def value(self) -> Message: ...

    @property
    def good(self) -> bool | None: ...

    @property
    def remedy(self) -> Message: ...


def print_findings(findings: Sequence[Finding], console: Console) -> None:
    """A line for each, then what to do about those that ask for a look, then the sum."""
    console.print(_table(findings))
    asking = [one for one in findings if one.good is False]
    if asking:
        console.print("\nWhat to do:")
        console.print(_advice(asking))
    console.print(f"\n{verdict(findings)}", markup=False, highlight=False)


def verdict(findings: Sequence[Finding]) -> str:
    """The sum in one sentence."""
    asking = [str(one.name) for one in findings if one.good is False]
    unknown = sum(one.good is None for one in findings)
    hidden = f" {unknown} of {len(findings)} cannot be known here." if unknown else ""
    if not asking:
        return f"Nothing that was found disturbs a measurement.{hidden}"
    return f"Not quiet: {', '.join(asking)}. More blocks, and A/A, show how much it matters.{hidden}"


def _table(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in findings:
        word, style = WORDS[one.good]
        table.add_row(f"[{style}]{word}[/]", str(one.name), escape(str(one.value)))
    return table


def _advice(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in findings:
        table.add_row(str(one.name), escape(str(one.remedy)))
    return table
