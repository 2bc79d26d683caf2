"""How rows are shown together: side by side, by system, with the parameters that vary. Pure."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TypeVar

from core.cell import PARAMETERS, Value
from reports.facts.summary import Row, setting_key

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Return the items that have the same key, by that key, wherever they stand in *items*."""
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def groups(all_rows: Iterable[Row]) -> list[list[Row]]:
    """Rows side by side that differ in the runtime alone."""
    return [list(group) for _, group in groupby(all_rows, lambda row: setting_key(row.system, row.params))]


def by_system(all_rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Rows of each system, in their order."""
    return [(system, list(group)) for system, group in groupby(all_rows, lambda row: row.system)]


def alike(all_rows: Sequence[Row]) -> list[Sequence[Row]]:
    """The rows in parts whose completion times can be compared: all, or those of a system, or of a setting."""
    if has_same_work(all_rows):
        return [all_rows]
    systems = [rows for _, rows in by_system(all_rows)]
    return [part for rows in systems for part in ([rows] if has_same_work(rows) else groups(rows))]


def has_same_work(all_rows: Iterable[Row]) -> bool:
    """Whether every cell had as many requests, so that completion times can be compared between all rows."""
    return len({cell.requests for row in all_rows for cell in row.cells}) <= 1


def varying(all_rows: Iterable[Row]) -> list[str]:
    """varying_names() of the parameters of *all_rows*."""
    return varying_names(row.params for row in all_rows)


def varying_names(settings: Iterable[Mapping[str, Value]]) -> list[str]:
    """Names of the parameters with more than one value in *settings*, in the order of declaration."""
    texts: dict[str, set[str]] = {}
    for params in settings:
        for name, value in params.items():
            texts.setdefault(name, set()).add(value_text(value))
    order = list(PARAMETERS)
    names = (name for name, values in texts.items() if len(values) > 1)
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def shown(row: Row, names: Iterable[str]) -> dict[str, str]:
    """Of the parameters called *names*, those that the row's system reads, with their values in words."""
    return {name: value_text(row.params[name]) for name in names if name in row.params}


def value_text(value: Value) -> str:
    """A parameter's value as a plan has it: true, none, 10."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else str(value)
