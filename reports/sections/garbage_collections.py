"""The section "Pauses" of a report: garbage collections of the services, and the causes of slow
requests.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
Pauses are garbage collections here; locks.py has stop-the-world pauses. analysis/pause_shares.py
computes the figures, an ArmPauses for each setting and runtime.
"""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from analysis.formats import milliseconds, percent, tenths, whole_percent
from analysis.pause_shares import CAUSES, COLLECTION, ArmPauses, pauses
from analysis.stats import Estimate
from core.messages import Message, message
from reports.document import Section, estimate, traced
from reports.tables import Col, arm_col, col, table
from reports.view import View

PLACE = 22  # in the order of sections (reports/sections/__init__.py)
# share of a runtime's collections whose times were overwritten; above it, a note says so
MOST_OVERWRITTEN = 0.01
TRACE = "row.trace"  # attribute of ArmPauses with the names of its cells; see col()
CAPTION = message(
    "Figures cover all services while clients were timed. They are medians over the blocks "
    "(measured rounds), except that the longest collection is the longest of all blocks. Time in "
    "garbage collections is a share of a process's time. The last five columns are shares of the "
    "time of slow requests: those slower than the percentile in the second column. The figure for "
    "the timed window covers the whole window. Waits for a core are the share of time in which a "
    "runnable thread had no core."
)
HOW = message(
    "The time of a garbage collection is measured between its two calls of gc.callbacks. "
    "Without a GIL, this time includes the wait until every thread has stopped. Waits for "
    "a core are read from the kernel's scheduler while clients send requests "
    "(docs/why.md). Figures are missing for services without Python, and for clients that "
    "do not record the time of each request."
)


def _share_col(
    head: Message, cause: str, figure: str, *, of_window: bool = False
) -> Col[ArmPauses]:
    """Return the table column with the share of the slow requests' time that one cause took.

    cause: a name of CAUSES (analysis/pause_shares.py); figure: its name on the page
    of_window: the share of the whole timed window instead
    """

    def value(each: ArmPauses) -> float | Estimate | None:
        share = each.shares.get(cause)
        if share is None:
            return None
        return median(share.usual) if of_window else share.estimate

    return col(head, value, whole_percent, figure, TRACE)


COLS: tuple[Col[ArmPauses], ...] = (
    col("latency above percentile", "percentile"),
    col("garbage collections/s", "per_s", tenths, "collections per s", TRACE),
    col("time in garbage collections", "share", percent, "share of time in collections", TRACE),
    col("longest collection [ms]", "longest_ns", milliseconds, "longest collection", TRACE),
    _share_col(
        message("share of the slow requests' time in garbage collections"),
        COLLECTION,
        "slow requests in collections",
    ),
    _share_col(message("service waits for a core"), "service", "time without a core, service"),
    _share_col(
        message("service waits for a core, during the whole measurement"),
        "service",
        "time without a core, any",
        of_window=True,
    ),
    _share_col(message("client waits for a core"), "client", "time without a core, client"),
    _share_col(message("CPU steal"), "steal", "time stolen"),
)


def section(view: View) -> Section:
    """Return the report's section on garbage collections and on the causes of slow requests."""
    named = [(head, pauses(rows)) for head, rows in view.named_groups]
    every = [each for _, of_setting in named for each in of_setting]
    shown = table(
        message("Garbage collections, and causes of slow requests"),
        [arm_col("row.runtime", view.looks, TRACE), *COLS],
        [(head, of_setting) for head, of_setting in named if of_setting],
        folded=True,
        caption=CAPTION,
    )
    return Section(
        "pauses",
        message("Pauses"),
        sentences=tuple(_causes_sentence(each, view) for each in every if each.findings),
        tables=(shown,),
        notes=[HOW, *_overwritten(every)],
    )


def _causes_sentence(each: ArmPauses, view: View) -> Message:
    # CAUSES has the order in which the sentence names the four shares.
    usual = dict.fromkeys(CAUSES, "-")
    usual |= {name: whole_percent(median(share.usual)) for name, share in each.shares.items()}
    shares: dict[str, Any] = dict.fromkeys(CAUSES, message("unknown"))
    shares |= {name: estimate(share.estimate, whole_percent) for name, share in each.shares.items()}
    return traced(
        message(
            "{runtime}, {setting}: causes of delay for requests slower than {percentile}, as "
            "shares of their time. Garbage collections: {collection}. No core for runnable threads "
            "of the service: {service}. No core for runnable threads of the client: {client}. "
            "Cores taken by the host (steal): {steal}. In the whole timed window, these four "
            "shares are {usual}.",
            runtime=each.row.runtime,
            setting=view.settings.name(each.row),
            percentile=each.percentile,
            usual=", ".join(usual.values()),
            **shares,
        ),
        each.row.trace,
    )


def _overwritten(every: Sequence[ArmPauses]) -> Iterator[Message]:
    """Yield a note if the recorded times of many garbage collections were overwritten."""
    unkept = max((each.unkept for each in every), default=0.0)
    if unkept > MOST_OVERWRITTEN:
        yield message(
            "For up to {share} of a runtime's garbage collections, the recorded times were "
            "overwritten by the times of newer collections. Garbage collections may therefore take "
            "more time of slow requests than shown.",
            share=whole_percent(unkept),
        )
