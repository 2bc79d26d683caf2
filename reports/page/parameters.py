"""What was measured: the size of the cells in one line, and every parameter with its values. Pure."""

from collections.abc import Mapping, Sequence

from core.cell import PARAMETERS, Value
from reports.page.settings import Settings
from reports.page.tables import Datum, Group, Line, Table, heads, plain
from reports.page.texts import MEANINGS
from reports.rows.arrangement import groups, value_text
from reports.rows.comparisons import is_timed
from reports.rows.summary import Row
from reports.rows.view import View
from reports.words.translation import said

SIZES = (  # what a reader asks first, with the words for it
    ("NUM_API_SERVICES", "size_services"),
    ("NUM_CLIENTS", "size_clients"),
    ("NUM_WORKERS_PER_API_SERVICE", "size_workers"),
    ("NUM_THREADS_PER_CLIENT", "size_threads"),
    ("NUM_CONNECTIONS_PER_CLIENT", "size_connections"),
    ("NUM_REQUESTS_PER_CLIENT", "size_requests"),
    ("CALC_TARGET", "size_calc"),
    ("MESSAGE_BYTES", "size_message"),
)
MOST_TOLD = 4
Words = Mapping[str, str]


def size_line(view: View, words: Words) -> str:
    """'4 services · 4 clients · CALC_TARGET 1000'; several values of one parameter with strokes between."""
    told = [(name, key, _values(view.rows, name)) for name, key in SIZES]
    duration = view.run.plan.get("method", {}).get("duration_s")
    parts = [
        words[key].format(n=_told(values, words))
        for name, key, values in told
        if values and not (name == "NUM_REQUESTS_PER_CLIENT" and is_timed(view.run))
    ]
    return " · ".join([*parts, *([words["size_duration"].format(n=f"{duration:g}")] if duration else [])])


def _values(rows: Sequence[Row], name: str) -> list[Value]:
    """The values of a parameter in all rows that have it, each once, in order."""
    values = list(dict.fromkeys(row.params[name] for row in rows if name in row.params))
    return sorted(values, key=lambda one: (one is None, one if isinstance(one, int) else 0))


def _told(values: Sequence[Value], words: Words) -> str:
    texts = [f"{one:,}" if type(one) is int else value_text(one) for one in values]
    if len(texts) <= MOST_TOLD:
        return " / ".join(texts)
    return words["size_between"].format(least=texts[0], most=texts[-1], count=len(texts))


def names_of(rows: Sequence[Row]) -> list[str]:
    """The parameters that the rows have, in the order of declaration."""
    there = {name for row in rows for name in row.params}
    return [*(name for name in PARAMETERS if name in there), *sorted(there - set(PARAMETERS))]


def common(view: View, words: Words, lang: str) -> Table:
    """A line for each parameter that is the same in every setting that reads it: name, value, meaning."""
    found = {name: _values(view.rows, name) for name in names_of(view.rows)}
    lines = [(name, _value(values[0], name), _meaning(name, lang)) for name, values in found.items() if len(values) < 2]
    heads_ = (words["parameter"], words["value"], words["meaning"])
    return plain(lines, words["common_parameters"], heads_, "parameters")


def varying(view: View, settings: Settings, words: Words) -> Table:
    """A line for each setting, with its own value of each parameter that is not the same in all of them."""
    names = [name for name in names_of(view.rows) if len(_values(view.rows, name)) > 1]
    lines = tuple(_setting(some[0], names, settings) for some in groups(view.rows)) if names else ()
    titles = heads(words["setting"], *names, numbers=names)
    return Table(name=words["varying_parameters"], heads=titles, groups=(Group(lines=lines),), kind="settings")


def _setting(row: Row, names: Sequence[str], settings: Settings) -> Line:
    values = (
        Datum(text=_value(row.params[name], name) if name in row.params else "-", kind="number") for name in names
    )
    return Datum(text=row.title or settings.head(row.system)), *values


def _value(value: Value, name: str) -> str:
    unit = PARAMETERS[name].unit if name in PARAMETERS else ""
    text = f"{value:,}" if type(value) is int else value_text(value)
    return f"{text} {unit}" if unit and value is not None else text


def _meaning(name: str, lang: str) -> str:
    own = MEANINGS.get(lang, {}).get(name)
    return own or (said(str(PARAMETERS[name].help), lang) if name in PARAMETERS else "")
