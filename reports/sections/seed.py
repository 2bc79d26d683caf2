"""Compare a run with the original experiment that gilscope repeats: its published times and its
findings.

The original experiment is experiment 003 of the seed. Its figures come from another machine, with
one run per row. The figure 10.3 has no unit in the record; all figures are in seconds.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
The figures and claims are quoted from its record, so they are never adjusted to new results.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analysis.cell_index import Row, runtimes
from analysis.comparison_words import Comparison
from analysis.formats import seconds
from core.cell import PARAMETERS, Value
from core.messages import NOTHING, Message, listed, message, plural, verbatim
from record.comparison import DECIDED
from reports.document.model import ABSENT, Datum, Section, Table, plain_table, words
from reports.parts.comparison_table import RATIO, VERDICT, ratio_datum
from reports.view import View

PLACE = 51  # in the order of sections (reports/sections/__init__.py)
MACHINE = "i9-13900K"  # of the original experiment
REQUESTS = 400_000  # of each measurement in the original experiment
# the interpreters of the tables of the original experiment, as its record names them
BOTH = verbatim("Python 3.11.5"), verbatim("Python 3.14.0a0 free-threading")
UNNAMED = (message("unknown Python interpreter"),)
RANGE = message("{start} to {end}")
# by whether the verdict of this run is that of a claim
HOLDS = {True: message("yes"), False: message("no")}
NOT_KNOWN = message("not known")


# a line of a table of published times: what was measured, the parameters of our cells that
# correspond to it, and the time under each interpreter, as printed in the record, without the unit
Line = tuple[Message, Mapping[str, Value], Sequence[str]]


class SeedTable(NamedTuple):
    """A table of published times of one service design (system)."""

    system: str
    interpreters: Sequence[Message]
    heading: Message
    lines: Sequence[Line]


def _sockets(select_mode: str, client_binding: str, seconds: Mapping[int, str]) -> list[Line]:
    """Return a line of published times for each number of sockets per service (NUM_MULTI_SOCKET).

    seconds: time by value of NUM_MULTI_SOCKET
    """
    at: dict[str, Value] = {"SELECT_MODE": select_mode, "CLIENT_BINDING": client_binding}
    return [
        (
            verbatim(f"NUM_MULTI_SOCKET = {sockets}"),
            {**at, "NUM_MULTI_SOCKET": sockets},
            [figure],
        )
        for sockets, figure in seconds.items()
    ]


_TIME = message("Time that each client takes to send all of its requests.")
TABLES = (
    SeedTable(
        "2",
        BOTH,
        _TIME,
        [
            (message("client reuses connections"), {"REUSE_CLIENT": True}, ["5.5", "5.0"]),
            (
                message("client does not reuse connections"),
                {"REUSE_CLIENT": False},
                ["14.9", "10.3"],
            ),
        ],
    ),
    SeedTable("3", BOTH, _TIME, [(message("Tornado"), {}, ["16.1", "17.2"])]),
    SeedTable(
        "4",
        UNNAMED,
        _TIME,
        [
            (
                message("select() on all connections at once"),
                {"SELECT_MODE": "all", "CLIENT_BINDING": "random", "NUM_MULTI_SOCKET": 10},
                ["3.03"],
            ),
            (
                message("select() on each connection in turn"),
                {"SELECT_MODE": "single", "CLIENT_BINDING": "random", "NUM_MULTI_SOCKET": 10},
                ["5.57"],
            ),
        ],
    ),
    SeedTable(
        "4",
        UNNAMED,
        message(
            "Time that each client takes to send all of its requests, with select() on all "
            "connections at once, by number of sockets per service (NUM_MULTI_SOCKET)."
        ),
        _sockets("all", "random", {1: "2.35", 5: "2.60", 10: "3.03"}),
    ),
    SeedTable(
        "4",
        UNNAMED,
        message(
            "Time that each client takes to send all of its requests, over one connection per "
            "service and with select() on each connection in turn, by number of sockets per "
            "service (NUM_MULTI_SOCKET)."
        ),
        _sockets("single", "pinned", {1: "2.44", 5: "2.47", 10: "2.60"}),
    ),
)


class Claim(NamedTuple):
    """A finding of the original experiment, as a comparison that a run can answer.

    params: the values of the parameters at which it was found
    change: the swept parameter with its two values; None for the step from the first runtime to the
        last
    verdict: a word of record.comparison.WORDS about the second value or runtime, compared with the
        first
    """

    what: Message
    system: str
    params: Mapping[str, Value]
    change: tuple[str, Value, Value] | None
    verdict: str


CLAIMS = (
    Claim(
        message("New connections for each request are slower than connections that are reused."),
        "2",
        {},
        ("REUSE_CLIENT", True, False),
        "slower",
    ),
    Claim(
        message("Requests that each open a new connection are faster without the GIL."),
        "2",
        {"REUSE_CLIENT": False},
        None,
        "faster",
    ),
    Claim(
        message("With connections that are reused, the GIL hardly matters."),
        "2",
        {"REUSE_CLIENT": True},
        None,
        "equivalent",
    ),
    Claim(message("Tornado is slower without the GIL."), "3", {}, None, "slower"),
    Claim(
        message(
            "A select() on each connection in turn is slower than one select() on all connections."
        ),
        "4",
        {"NUM_MULTI_SOCKET": 10, "CLIENT_BINDING": "random"},
        ("SELECT_MODE", "all", "single"),
        "slower",
    ),
    Claim(
        message("With select() on all connections, ten sockets are slower than one socket."),
        "4",
        {"SELECT_MODE": "all", "CLIENT_BINDING": "random"},
        ("NUM_MULTI_SOCKET", 1, 10),
        "slower",
    ),
    Claim(
        message("Ten sockets are slower than one socket, with one connection for each service."),
        "4",
        {"SELECT_MODE": "single", "CLIENT_BINDING": "pinned"},
        ("NUM_MULTI_SOCKET", 1, 10),
        "slower",
    ),
)


def section(view: View) -> Section:
    """Return the section that compares a run with the original experiment. It is empty if cells ran
    for a duration.
    """
    return Section(
        "seed",
        message("Comparison with the experiment that gilscope repeats"),
        parts=() if view.is_timed else (_times_section(view), _findings(view)),
        folded=True,
    )


# ---- times ---------------------------------------------------------------------------------------


def _times_section(view: View) -> Section:
    tables = [*filter(None, (_table(table, view) for table in TABLES))]
    note = message(
        "Times of this run ({blocks}) are the median over the clients, in seconds, with the "
        "slowest client in parentheses. Each original time comes from one run on another machine "
        "({machine}) and is not a target.",
        blocks=plural("{count} block", "{count} blocks", count=view.plan.blocks),
        machine=MACHINE,
    )
    return Section(
        "times",
        message("Comparison with the published times of the experiment that gilscope repeats"),
        sentences=[*filter(None, (note, _size_warning(view)))] if tables else (),
        tables=tables,
    )


def _size_warning(view: View) -> Message:
    """Return a warning if this run has fewer or more requests than the original experiment, or a
    scale; else return NOTHING.
    """
    sizes = sorted({cell.requests for row in view.rows for cell in row.cells})
    if view.plan.scale == 1 and sizes == [REQUESTS]:
        return NOTHING
    return message(
        "Each measurement has {ours} requests in this run, but {theirs:,} in the original "
        "experiment that gilscope repeats, so the times cannot be compared.",
        ours=listed([f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1]))], RANGE),
        theirs=REQUESTS,
    )


def _table(published: SeedTable, view: View) -> Table:
    """Return a table of this run's times beside the published times, with a line for each row that
    was measured.
    """
    arms, lines = runtimes(view.run), []
    for what, params, seconds_of in published.lines:
        rows = [_matching_row(view.rows, published.system, params, arm) for arm in arms]
        # A published row that no runtime of this run repeats gets no line.
        if any(row and row.figures for row in rows):
            figures = [words(figure, state="theirs") for figure in seconds_of]
            lines.append((what, *map(_times, rows), *figures))
    theirs = [
        message("published time: {interpreter}", interpreter=one) for one in published.interpreters
    ]
    title = message(
        "{system}. {table}", system=view.settings.head(published.system), table=published.heading
    )
    return plain_table(
        title, (NOTHING,), lines, [*map(verbatim, arms), *theirs], kind="seed", titled=True
    )


def _matching_row(
    rows: Sequence[Row], system: str, params: Mapping[str, Value], runtime: str
) -> Row | None:
    """Return the row of this run that repeats a published measurement; None if no row does.

    Of several matches, the row with the most default values is returned, because that experiment
    used the defaults.
    """

    def likeness(row: Row) -> int:
        return sum(
            value == PARAMETERS[name].default
            for name, value in row.params.items()
            if name in PARAMETERS
        )

    fitting = [
        row
        for row in rows
        if (row.runtime, row.system) == (runtime, system) and params.items() <= row.params.items()
    ]
    return max(fitting, key=likeness, default=None)


def _times(row: Row | None) -> Datum | str:
    """Return a row's completion time in seconds: median over the clients (slowest client), such as
    '5.51 (5.60)'.
    """
    if not row or not row.figures:
        return ABSENT
    middle, most = (
        seconds(row.figures[name]) for name in ("completion_median_ns", "completion_max_ns")
    )
    return words(f"{middle} ({most})", cells=row.trace, figure="completion_median_ns")


# ---- findings ------------------------------------------------------------------------------------


def _findings(view: View) -> Section:
    """Return the section on the original experiment's findings, each with the comparisons of this
    run about it.
    """
    lines = [
        (
            claim.what,
            one.label,
            ratio_datum(one),
            words(one.word, state=one.verdict),
            _holds(claim, one),
        )
        for claim in CLAIMS
        for one in (*view.of_values, *view.compared)
        if _answers(claim, one)
    ]
    heads = (
        message("the original experiment found"),
        message("compared here"),
        RATIO,
        VERDICT,
        message("does it hold?"),
    )
    name = message(
        "Findings of the experiment that gilscope repeats, and what this run says about them"
    )
    return Section(
        "findings", message("Findings"), tables=(plain_table(name, heads, lines, kind="seed"),)
    )


def _answers(claim: Claim, one: Comparison) -> bool:
    """Return whether a comparison is about a claim: the same change, or the step from the first
    runtime to the last.
    """
    if one.step != ("value" if claim.change else "whole") or one.system != claim.system:
        return False
    has_params = claim.params.items() <= one.params.items()
    return has_params and (not claim.change or one.change == claim.change)


def _holds(claim: Claim, one: Comparison) -> Message:
    return HOLDS[one.verdict == claim.verdict] if one.verdict in DECIDED else NOT_KNOWN
