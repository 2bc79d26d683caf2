"""Every cell of every block as a line of one table, which a reader sorts and filters. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core.result import CellResult, Run
from reports.page.look import Look
from reports.page.settings import Settings
from reports.page.states import status
from reports.page.traces import line_id
from reports.rows.arrangement import value_text, varying
from reports.rows.columns import microseconds, seconds
from reports.rows.summary import completion_max_ns, completion_ns, cpu_ns, reasons, requests_per_s
from reports.rows.view import View
from reports.words.translation import said


@dataclass(frozen=True, kw_only=True)
class Value:
    """text: for people; raw: what it is sorted by, empty if that is the text; figure: the name of what it is.

    wraps: whether it is prose that takes several lines
    """

    text: str
    raw: str = ""
    figure: str = ""
    is_number: bool = False
    wraps: bool = False


@dataclass(frozen=True, kw_only=True)
class CellLine:
    """A cell in one block. key: its id on the page."""

    key: str
    arm: str
    look: Look
    system: str
    status: str
    values: tuple[Value, ...]


@dataclass(frozen=True, kw_only=True)
class CellTable:
    """heads: name and whether the column holds numbers. systems, arms, statuses: what one can choose from.

    A status stands with its word in the page's language.
    """

    heads: tuple[tuple[str, bool], ...]
    lines: tuple[CellLine, ...]
    systems: tuple[str, ...]
    arms: tuple[str, ...]
    statuses: tuple[tuple[str, str], ...]


def cell_table(view: View, settings: Settings, words: Mapping[str, str], lang: str) -> CellTable:
    """All cells in the order in which they ran."""
    names = varying(view.rows)
    cells = view.run.cells
    figures = list(_figures(cells[0], words)) if cells else []
    heads = [(words["system"], False), (words["block"], True), *((name, True) for name in names)]
    return CellTable(
        heads=(
            (words["runtime"], False),
            *heads,
            (words["status"], False),
            *((name, True) for name in figures),
            (words["reason"], False),
            (words["cell_id"], False),
        ),
        lines=tuple(_line(cell, names, settings, words, lang) for cell in cells),
        systems=_different(view.run, "system"),
        arms=_different(view.run, "arm"),
        statuses=tuple((one, status(one, words)) for one in _different(view.run, "status")),
    )


def _different(run: Run, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(getattr(cell, name) for cell in run.cells))


def _line(cell: CellResult, names: list[str], settings: Settings, words: Mapping[str, str], lang: str) -> CellLine:
    params = [value_text(cell.params[name]) if name in cell.params else "" for name in names]
    why = said(reasons([cell])[0], lang) if cell.reason else ""
    values = [
        Value(text=cell.system),
        Value(text=str(cell.block), is_number=True),
        *(Value(text=one, is_number=one.isdigit()) for one in params),
        Value(text=status(cell.status, words)),
        *_figures(cell, words).values(),
        Value(text=why, wraps=bool(why)),
        Value(text=cell.cell_id),
    ]
    return CellLine(
        key=line_id(cell),
        arm=cell.arm,
        look=settings.looks[cell.arm],
        system=cell.system,
        status=cell.status,
        values=tuple(values),
    )


def _figures(cell: CellResult, words: Mapping[str, str]) -> dict[str, Value]:
    """The figures of a cell by their heads; one that it has not is empty."""
    timed = bool(cell.clients)
    return {
        words["completion_s"]: _value(completion_ns(cell) if timed else None, seconds, "completion_s"),
        words["completion_max_s"]: _value(completion_max_ns(cell) if timed else None, seconds, "completion_max_s"),
        words["wall_s"]: _value(cell.wall_ns or None, seconds, "wall_s"),
        words["requests_s"]: _count(requests_per_s(cell) or None, "requests_per_s"),
        words["p50"]: _value(cell.latency.get("p50_ns"), microseconds, "p50_us"),
        words["p99"]: _value(cell.latency.get("p99_ns"), microseconds, "p99_us"),
        words["p999"]: _value(cell.latency.get("p999_ns"), microseconds, "p999_us"),
        words["service_cpu"]: _value(_each(cpu_ns(cell.services), cell), microseconds, "service_cpu_us"),
        words["client_cpu"]: _value(_each(cpu_ns(cell.clients), cell), microseconds, "client_cpu_us"),
        words["wrong"]: _count(cell.wrong, "wrong"),
        words["errors"]: _count(sum(cell.errors.values()), "errors"),
    }


def _each(spent_ns: int | None, cell: CellResult) -> float | None:
    return spent_ns / cell.requests if spent_ns is not None and cell.requests else None


def _value(value: float | None, shown: Callable[[float], str], figure: str) -> Value:
    if value is None:
        return Value(text="", figure=figure, is_number=True)
    return Value(text=shown(value), raw=f"{value:.0f}", figure=figure, is_number=True)


def _count(value: float | None, figure: str) -> Value:
    if value is None:
        return Value(text="", figure=figure, is_number=True)
    return Value(text=f"{value:,.0f}", raw=f"{value:.1f}", figure=figure, is_number=True)
