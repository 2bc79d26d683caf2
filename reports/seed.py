"""The published results of the original experiment that gilscope repeats, and tables that compare a run with them.

The original experiment is experiment 003 of the seed. Its figures come from another machine, with one run per row. The
figure 10.3 has no unit in the record; all figures are in seconds.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.cell import PARAMETERS, Value
from core.messages import NOTHING, Message, listed, message, plural, verbatim
from reports.document.model import ABSENT, Datum, Section, Table, plain_table, words
from reports.document.values import seconds
from reports.facts.cells import Row, runtimes
from reports.view import View

MACHINE = "i9-13900K"
FACTS = {  # by the labels of reports.topics.machine
    message("System"): "Ubuntu 22.04.2 LTS",
    message("CPU"): f"13th Gen Intel(R) Core(TM) {MACHINE}",
    message("Memory"): "32GB",
    message("ulimit -n (open files)"): "1048576",
    message("ulimit -u (processes)"): "127740",
}
REQUESTS = 400_000

GIL = "Python 3.11.5"
NOGIL = "Python 3.14.0a0 free-threading"
UNNAMED = "unnamed"
INTERPRETERS: Mapping[str, Message] = {
    GIL: verbatim(GIL),
    NOGIL: verbatim(NOGIL),
    UNNAMED: message("unknown Python interpreter"),
}


class SeedRow(NamedTuple):
    """One line of a table of published times from the original experiment that gilscope repeats.

    params: parameter values of our cells that correspond to the row
    seconds: time per interpreter as printed in the record, without the unit
    """

    what: Message
    params: Mapping[str, Value]
    seconds: Mapping[str, str]


class SeedSystem(NamedTuple):
    """The published results for one service design (system), from the original experiment that gilscope repeats.

    settings: values by parameter, as printed
    tables: the lines of each table by the line above it; all lines of a table have figures for the same interpreters
    remark: a remark of the record, or of ours on the record
    """

    system: str
    description: Message
    settings: Mapping[str, str]
    tables: Mapping[Message, Sequence[SeedRow]]
    remark: Message = NOTHING


_COMMON = {
    "NUM_API_SERVICES": "20",
    "NUM_CLIENTS": "NUM_API_SERVICES",
    "NUM_REQUESTS_PER_CLIENT": "1000",
    "NUM_THREADS_PER_CLIENT": "25",
    "CALC_TARGET": "1000",
}
_TIME = message("Time that each client takes to send all of its requests.")


def _sockets(select_mode: str, client_binding: str, seconds: Mapping[int, str]) -> list[SeedRow]:
    """Return a line of published times for each number of sockets per service (NUM_MULTI_SOCKET).

    seconds: time by value of NUM_MULTI_SOCKET
    """
    return [
        SeedRow(
            verbatim(f"NUM_MULTI_SOCKET = {sockets}"),
            {"SELECT_MODE": select_mode, "CLIENT_BINDING": client_binding, "NUM_MULTI_SOCKET": sockets},
            {UNNAMED: figure},
        )
        for sockets, figure in seconds.items()
    ]


SYSTEMS = (
    SeedSystem(
        "1",
        message("A service has a single socket and no connection cache."),
        {},
        {_TIME: [SeedRow(message("a new connection for every request"), {}, {})]},
        message(
            "The original experiment that gilscope repeats describes a service without a connection cache (system 1), "
            "but publishes no settings or times for it."
        ),
    ),
    SeedSystem(
        "2",
        message("A service has a single socket and a connection cache."),
        {**_COMMON, "NUM_WORKERS_PER_API_SERVICE": "25"},
        {
            _TIME: [
                SeedRow(message("client reuses connections"), {"REUSE_CLIENT": True}, {GIL: "5.5", NOGIL: "5.0"}),
                SeedRow(
                    message("client does not reuse connections"), {"REUSE_CLIENT": False}, {GIL: "14.9", NOGIL: "10.3"}
                ),
            ]
        },
    ),
    SeedSystem(
        "3",
        message("A Tornado service."),
        _COMMON,
        {_TIME: [SeedRow(message("Tornado"), {}, {GIL: "16.1", NOGIL: "17.2"})]},
        message(
            "In the original experiment that gilscope repeats, Tornado took 17.2 s under Python 3.14.0a0 "
            'free-threading. Its record calls this "even slower".'
        ),
    ),
    SeedSystem(
        "4",
        message("Each service listens on several sockets, which share one connection cache and one thread pool."),
        {**_COMMON, "NUM_MULTI_SOCKET": "10", "NUM_MAX_CONNS": "None"},
        {
            _TIME: [
                SeedRow(
                    message("select() on all connections at once"),
                    {"SELECT_MODE": "all", "CLIENT_BINDING": "random", "NUM_MULTI_SOCKET": 10},
                    {UNNAMED: "3.03"},
                ),
                SeedRow(
                    message("select() on each connection in turn"),
                    {"SELECT_MODE": "single", "CLIENT_BINDING": "random", "NUM_MULTI_SOCKET": 10},
                    {UNNAMED: "5.57"},
                ),
            ],
            message(
                "Time that each client takes to send all of its requests, with select() on all connections at "
                "once, by number of sockets per service (NUM_MULTI_SOCKET)."
            ): _sockets("all", "random", {1: "2.35", 5: "2.60", 10: "3.03"}),
            message(
                "Time that each client takes to send all of its requests, over one connection per service and with "
                "select() on each connection in turn, by number of sockets per service (NUM_MULTI_SOCKET)."
            ): _sockets("single", "pinned", {1: "2.44", 5: "2.47", 10: "2.60"}),
        },
    ),
)


class Claim(NamedTuple):
    """A finding of the original experiment, as a comparison that a run can answer.

    params: the values of the parameters at which it was found
    change: the swept parameter with its two values; None for the step from the first runtime to the last
    verdict: what it says of the second value or runtime
    """

    what: Message
    system: str
    params: Mapping[str, Value]
    change: tuple[str, Value, Value] | None
    verdict: str


CLAIMS = (
    Claim(
        message("New connections for each request are slower than connections that are reused."),
        "2", {}, ("REUSE_CLIENT", True, False), "slower",
    ),
    Claim(
        message("Without the GIL, new connections for each request are faster."),
        "2", {"REUSE_CLIENT": False}, None, "faster",
    ),
    Claim(
        message("With connections that are reused, the GIL hardly matters."),
        "2", {"REUSE_CLIENT": True}, None, "equivalent",
    ),
    Claim(message("Tornado is slower without the GIL."), "3", {}, None, "slower"),
    Claim(
        message("A select() on each connection in turn is slower than one select() on all connections."),
        "4", {"NUM_MULTI_SOCKET": 10, "CLIENT_BINDING": "random"}, ("SELECT_MODE", "all", "single"), "slower",
    ),
    Claim(
        message("Ten sockets are slower than one socket, with select() on all connections."),
        "4", {"SELECT_MODE": "all", "CLIENT_BINDING": "random"}, ("NUM_MULTI_SOCKET", 1, 10), "slower",
    ),
    Claim(
        message("Ten sockets are slower than one socket, with one connection for each service."),
        "4", {"SELECT_MODE": "single", "CLIENT_BINDING": "pinned"}, ("NUM_MULTI_SOCKET", 1, 10), "slower",
    ),
)  # fmt: skip
RANGE = message("{start} to {end}")


def covers_the_seed(rows: Sequence[Row]) -> bool:
    """Return whether *rows* of this run include all measurements of the original experiment that gilscope repeats."""
    return all(
        any(_fits(row, system.system, wanted) for row in rows)
        for system in SYSTEMS
        for table in system.tables.values()
        for wanted in table
    )


def matching_row(rows: Sequence[Row], system: str, wanted: SeedRow, runtime: str) -> Row | None:
    """Return the row of this run that repeats a published measurement of the original experiment that gilscope repeats.

    Of several matches, the row with the most default values is returned, because that experiment used the defaults.
    Returns None if no row matches *wanted*, the published measurement.
    """

    def likeness(row: Row) -> int:
        return sum(value == PARAMETERS[name].default for name, value in row.params.items() if name in PARAMETERS)

    fitting = [row for row in rows if row.runtime == runtime and _fits(row, system, wanted)]
    return max(fitting, key=likeness, default=None)


def _fits(row: Row, system: str, wanted: SeedRow) -> bool:
    return row.system == system and wanted.params.items() <= row.params.items()


def size_warning(view: View) -> Message:
    """Return a warning if this run has fewer or more requests than the original experiment that gilscope repeats.

    If they have as many, return NOTHING.
    """
    sizes = sorted({cell.requests for row in view.rows for cell in row.cells})
    if view.plan.scale == 1 and sizes in ([], [REQUESTS]):
        return NOTHING
    ends = [f"{size:,}" for size in dict.fromkeys((*sizes[:1], *sizes[-1:]))]
    if not ends:
        return message(
            "Measurements in this run have fewer requests than in the original experiment that gilscope repeats, "
            "so the times cannot be compared."
        )
    return message(
        "Each measurement in this run has {ours} requests, but {theirs:,} in the original experiment that gilscope "
        "repeats, so the times cannot be compared.",
        ours=listed(ends, RANGE),
        theirs=REQUESTS,
    )


def seed_comparison(view: View) -> Section:
    """Return the section that shows a run's times beside those of the original experiment that gilscope repeats."""
    made = (_table(system, heading, view) for system in SYSTEMS for heading in system.tables)
    tables = tuple(filter(None, made))
    if not tables:
        return Section("seed", NOTHING)
    note = message(
        "Times of this run ({blocks}) are the median over the clients, in seconds, with the slowest client in "
        "parentheses. Each original time comes from one run on another machine ({machine}) and is not a target.",
        blocks=plural("{count} block", "{count} blocks", count=view.plan.blocks),
        machine=MACHINE,
    )
    return Section(
        "seed",
        message("Comparison with the published times of the experiment that gilscope repeats"),
        sentences=tuple(filter(None, (note, size_warning(view)))),
        tables=tables,
    )


def _table(system: SeedSystem, heading: Message, view: View) -> Table:
    arms, published = runtimes(view.run), system.tables[heading]
    lines = []
    for wanted in published:
        rows = [matching_row(view.rows, system.system, wanted, arm) for arm in arms]
        if any(row and row.figures for row in rows):
            figures = (words(figure, state="theirs") for figure in wanted.seconds.values())
            lines.append((wanted.what, *map(_times, rows), *figures))
    theirs = [message("published time: {interpreter}", interpreter=INTERPRETERS[name]) for name in published[0].seconds]
    name = message("{system}. {table}", system=view.settings.head(system.system), table=heading)
    return plain_table(name, (NOTHING,), lines, [*map(verbatim, arms), *theirs], kind="seed", titled=True)


def _times(row: Row | None) -> Datum | str:
    return words(times(row), cells=row.trace, figure="completion_s") if row and row.figures else ABSENT


def times(row: Row, unit: str = "") -> str:
    """Return a row's completion time in seconds: median over the clients (slowest client), such as '5.51 (5.60)'."""
    assert row.figures is not None
    middle, most = (seconds(row.figures[name]) for name in ("completion_median_ns", "completion_max_ns"))
    return f"{middle}{unit} ({most})"
