"""Tables of options, parameters and figures in the docs are made from the code that declares them: make golden."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

import pytest

import systems
from analysis.metrics import METRICS, Metric
from commands import SUMMARIES
from config import host_options as hosts
from config.load import experiments, load_experiment
from config.options import Option, by_key
from config.plan_options import PLAN_OPTIONS, ROW
from config.sidecar_options import ENTRY
from config.user_service.request_options import REQUEST
from config.user_service.service_options import SERVICE
from core.cell import NONE, PARAMETERS, Parameter
from reports.compare import MACHINE, METHOD
from tests.docs.pages import DOCS, expect, run_parser, with_table
from tests.tables import table

HISTOGRAM = r"^(latency|connect|waiting)_(\w+)_ns$"


def _key_table(options: Sequence[Option]) -> list[list[str]]:
    """Return the rows of a docs table of YAML keys. The columns are key with flags, and help."""
    flags = {key: [f"`{one.flag}`" for one in options if one.key == key and one.flag] for key in by_key(options)}
    return [[", ".join([f"`{key}`", *flags[key]]), str(option.help)] for key, option in by_key(options).items()]


def _parameter_row(one: Parameter) -> list[str]:
    default = f"as {one.same_as}" if one.same_as else NONE if one.default is None else str(one.default).lower()
    accepted = str(one.accepted).removeprefix("a whole number from ").removeprefix("one of ")
    return [one.label, default, accepted, _readers(one.name), str(one.help)]


def _readers(name: str) -> str:
    """Return the systems that read the parameter *name*, in short."""
    readers = systems.readers(name)
    if readers == systems.readers("NUM_API_SERVICES"):
        return "all"
    return ", ".join(readers).replace("1, 2, 3, 4", "1-4")


def _figure_row(one: Metric) -> list[str]:
    """Return the row of a figure. A figure of the service and the same of the clients share it."""
    names, meaning = [one.key], one.meaning
    if _of_clients(one.key) in METRICS:
        names.append(_of_clients(one.key))
        meaning = meaning.replace("service", "service or client")
    of_row = "median, compared" if one.percentile else "median" if one.label else "-"
    better = str(one.better).removesuffix(" is better.").lower() or "-"
    return [", ".join(f"`{name}`" for name in names), meaning, of_row, better]


def _of_clients(key: str) -> str:
    return re.sub("^service_", "client_", key) if key.startswith("service_") else ""


def _figure_rows() -> Iterator[list[str]]:
    """Yield the rows of the docs table of figures. The figures of a histogram share a row."""
    shared = {_of_clients(key) for key in METRICS}
    alone = [one for one in METRICS.values() if one.key not in shared]
    for kind, group in groupby(alone, key=lambda one: re.sub(HISTOGRAM, r"\1_*_ns", one.key)):
        figures = list(group)
        if len(figures) == 1:
            yield _figure_row(figures[0])
            continue
        names = [one.key.split("_")[1] for one in figures]
        _, meaning, _, better = _figure_row(figures[names.index("mean")])
        compared = ", ".join(one.percentile for one in figures if one.percentile)
        of_row = f"{compared}: median, compared" if compared else "-"
        yield [f"`{kind}`", meaning.removeprefix("mean "), of_row, better]


MORE = table(__file__)  # pages on commands and plans
REFUSED = [
    [", ".join(map(str, MACHINE.values())), "the machine"],
    [", ".join(map(str, METHOD.values())), "the method"],
    [
        "every parameter, the system and the runtime",
        "a cell. Cells that only one run has are named and left out; no common cell is an error",
    ],
]


def _linked(name: str) -> str:
    return f"[`{name}`]({MORE[name]})" if name in MORE else f"`{name}`"


TABLES: dict[tuple[str, str], Sequence[Sequence[str]]] = {
    ("plans", "commands"): [[_linked(name), str(text)] for name, text in SUMMARIES.items()],
    ("plans", "plans"): [[_linked(name), load_experiment(name).description] for name in experiments()],
    ("plans", "keys of a plan"): _key_table(PLAN_OPTIONS),
    ("plans", "keys of a row"): _key_table(ROW),
    ("beside", "keys of an entry"): _key_table(ENTRY),
    ("hosts", "keys of a host"): [[key, "", meaning] for key, meaning in _key_table(hosts.HOST_KEYS)],
    ("hosts", "flags of hosts"): [[f"`{one.usage}`", str(one.help)] for one in hosts.OPTIONS if one.flag],
    ("own-service", "keys of a request"): _key_table(REQUEST),
    ("own-service", "keys of a service"): _key_table(SERVICE),
    ("systems", "parameters"): [_parameter_row(one) for one in PARAMETERS.values()],
    ("report", "figures"): [*_figure_rows()],
    ("compare", "what compare refuses"): REFUSED,
}


@pytest.mark.parametrize(("page", "name"), TABLES)
def test_a_table_says_what_the_code_declares(page: str, name: str) -> None:
    path = DOCS / f"{page}.md"
    expect(path, with_table(path.read_text(), name, TABLES[page, name]))


def test_every_flag_of_a_run_is_on_a_page() -> None:
    pages = "".join((DOCS / f"{name}.md").read_text() for name in ("plans", "own-service", "hosts"))
    known = {flag for action in run_parser()._actions for flag in action.option_strings}
    known -= {"-h", "--help", "--version", *(one.flag for one in PARAMETERS.values())}
    assert known - {*re.findall(r"`(--[\w-]+)", pages)} == set()
