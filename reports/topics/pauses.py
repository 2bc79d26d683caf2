"""The section "Pauses" of a report: garbage collections of the services, and the causes of slow requests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from analysis.cells import Row, setting_key
from analysis.formats import milliseconds, percent, scaled, tenths, whole_percent
from analysis.stats import FEWEST_FOR_INTERVAL, Estimate, Floats, effect
from core.messages import Message, message
from record import child as record
from record.run import CellResult
from reports.document.model import Section, Table, bounds, estimate, traced
from reports.document.shapes import Col, arm_col, col, table
from reports.view import View

PLACE = 22
MOST_OVERWRITTEN = 0.01
PERCENTILES: Mapping[str, str] = {"p999": "p99.9", "p99": "p99"}  # a setting uses the first that all of its cells have
LEAST_FINDING = 0.05  # smallest share of the slow requests' time that gets a sentence
COLLECTION = "collection"
CAUSES = {  # shares of the slow requests' time, by name in result.json
    COLLECTION: message("the time of slow requests in which their service collected garbage"),
    "service": message("the time of slow requests in which threads of the service waited for a free core"),
    "client": message("the time of slow requests in which threads of the client waited for a free core"),
    "steal": message("the time of slow requests in which the virtual machine's host took away cores (CPU steal)"),
}
points = scaled("{:+.0%}")  # a difference of shares, in percentage points


class SlowShare(NamedTuple):
    """The share of the slow requests' time that one cause explains in each block.

    usual: the share that is expected for requests at random times
    """

    slow: Floats
    usual: Floats

    @property
    def estimate(self) -> Estimate:
        """Return the estimated share, with its interval limited to 0..1."""
        of = effect(self.slow)
        return replace(of, low=max(0.0, of.low), high=min(1.0, of.high)) if isfinite(of.low) else of

    @property
    def excess(self) -> Estimate:
        """Return by how much the cause's share of the slow requests' time exceeds its share of all time."""
        return effect(self.slow - self.usual)

    @property
    def is_finding(self) -> bool:
        """Return whether the share of the slow requests' time is significantly larger than at random times.

        Fewer than 6 blocks give a range and no finding.
        """
        return not self.excess.is_range and self.excess.low >= LEAST_FINDING


class ArmPauses(NamedTuple):
    """The garbage collections of one setting's services under one runtime, and the causes of slow requests.

    per_s: collections of all services per second, median over the blocks
    share: share of a process's time in collections, median over the blocks
    longest_ns: the longest collection of all blocks
    unkept: share of the collections whose times were overwritten
    percentile: slow requests are slower than this percentile; "" if slow requests are not known in every block
    shares: by a name of CAUSES; only shares that are known in all blocks
    """

    row: Row
    blocks: Sequence[int]
    per_s: float
    share: float
    longest_ns: int
    unkept: float
    percentile: str
    shares: Mapping[str, SlowShare]

    @property
    def findings(self) -> set[str]:
        """Return the names of the causes that significantly delay slow requests."""
        return {name for name, share in self.shares.items() if share.is_finding}


def pauses(rows: Sequence[Row]) -> list[ArmPauses]:
    """Return the garbage collections and slow requests of each result row. *rows* differ only in the runtime.

    Rows whose services recorded no collections are left out.
    """
    known = [(row, cells) for row in rows if (cells := [cell for cell in row.good if _is_known(cell)])]
    every = [cell.slow for _, cells in known for cell in cells]
    common = (name for name in PERCENTILES if all(name in slow and slow[name]["requests"] for slow in every))
    percentile = next(common, "")
    return [_pauses(row, cells, percentile) for row, cells in known]


def _is_known(cell: CellResult) -> bool:
    return bool(cell.wall_ns and cell.services and all("pauses" in service for service in cell.services))


def _pauses(row: Row, cells: Sequence[CellResult], percentile: str) -> ArmPauses:
    figures = np.array([[_figures(service["pauses"]) for service in cell.services] for cell in cells])
    # Each array is indexed by cell and service.
    collections, spent_ns, processes, longest_ns, unkept = np.moveaxis(figures, -1, 0)
    wall_ns = [cell.wall_ns for cell in cells]
    return ArmPauses(
        row=row,
        blocks=[cell.block for cell in cells],
        per_s=float(np.median(collections.sum(axis=1) * 1e9 / wall_ns)),
        share=float(np.median(spent_ns.sum(axis=1) / wall_ns / processes.sum(axis=1))),
        longest_ns=int(longest_ns.max()),
        unkept=float(unkept.sum() / max(1, collections.sum())),
        percentile=PERCENTILES.get(percentile, ""),
        shares=_shares([cell.slow[percentile] for cell in cells]) if percentile else {},
    )


def _figures(of: record.PauseCounts) -> list[int]:
    return [sum(of["collections"]), sum(of["total_ns"]), of["processes"], of["longest_ns"], of["unkept"]]


def _shares(blocks: Sequence[Any]) -> dict[str, SlowShare]:
    """Return the shares of slow requests by cause, for causes that are known in all blocks.

    blocks: the slow requests of each block, as in result.json
    """
    known = [
        {name: (cause["share"], cause["window"]) for name, cause in slow.get("causes", {}).items()} for slow in blocks
    ]
    return {
        name: SlowShare(*np.array([shares[name] for shares in known]).T)
        for name in CAUSES
        if all(name in shares for shares in known)
    }


def section(view: View) -> Section:
    """Return the report's section on garbage collections and on the causes of slow requests."""
    named = [(head, pauses(rows)) for head, rows in view.named_groups]
    every = [each for _, of_setting in named for each in of_setting]
    return Section(
        key="pauses",
        title=message("Pauses"),
        sentences=(
            *(_causes_sentence(each, view) for each in every if each.findings),
            *_change_sentences(every, view),
        ),
        tables=(_table(named, view),),
        notes=tuple(_notes(every)),
    )


def _causes_sentence(each: ArmPauses, view: View) -> Message:
    known = [(name, each.shares.get(name)) for name in CAUSES]
    shares: dict[str, Any] = {
        name: estimate(share.estimate, whole_percent) if share else message("unknown") for name, share in known
    }
    return traced(
        message(
            "{runtime}, {setting}: causes of delay for requests slower than {percentile}, as shares of their time. "
            "Garbage collections: {collection}. No core for runnable threads of the service: {service}. No core for "
            "runnable threads of the client: {client}. Cores taken by the host (steal): {steal}. In the whole timed "
            "window, these four shares are {usual}.",
            runtime=each.row.runtime,
            setting=view.settings.name(each.row),
            percentile=each.percentile,
            usual=", ".join(whole_percent(float(np.median(share.usual))) if share else "-" for _, share in known),
            **shares,
        ),
        each.row.trace,
    )


def _change_sentences(every: Sequence[ArmPauses], view: View) -> Iterator[Message]:
    """Yield a sentence for each cause of slow requests whose share changes significantly between two runtimes."""
    arms = {(each.row.key, each.row.runtime): each for each in every}
    for comparison in view.compared:
        setting = setting_key(comparison.system, comparison.params)
        before, after = (arms.get((setting, arm)) for arm in (comparison.denominator, comparison.numerator))
        if not before or not after or comparison.step == "aa":
            continue
        for name, what in CAUSES.items():
            by = _difference(before, after, name) if name in before.findings | after.findings else None
            if by and (by.low > 0 or by.high < 0):
                sentence = message(
                    "{denominator} → {numerator}, {setting}: the share of {what} changes by {change} {interval}, in "
                    "percentage points.",
                    denominator=comparison.denominator,
                    numerator=comparison.numerator,
                    setting=view.settings.name(comparison),
                    what=what,
                    change=points(by.value),
                    interval=bounds(by.low, by.high, points),
                )
                yield traced(sentence, comparison.trace)


def _difference(before: ArmPauses, after: ArmPauses, name: str) -> Estimate | None:
    """Return the change, from one runtime to another, in the share of slow requests with the cause *name*.

    None if there are too few blocks (rounds of measurement).
    """
    earlier, later = (
        dict(zip(each.blocks, each.shares[name].slow, strict=True)) if name in each.shares else {}
        for each in (before, after)
    )
    differences = [later[block] - earlier[block] for block in earlier.keys() & later.keys()]
    return effect(differences) if len(differences) >= FEWEST_FOR_INTERVAL else None


def _table(named: Sequence[tuple[Message, Sequence[ArmPauses]]], view: View) -> Table:
    return table(
        message("Garbage collections, and causes of slow requests"),
        [
            arm_col(lambda each: each.row.runtime, view.looks, _cells),
            col("latency above percentile", "percentile"),
            col("garbage collections/s", "per_s", tenths, "collections per s", trace=_cells),
            col("time in garbage collections", "share", percent, "share of time in collections", trace=_cells),
            col("longest collection [ms]", "longest_ns", milliseconds, "longest collection", trace=_cells),
            _col(
                message("share of the slow requests' time in garbage collections"),
                COLLECTION,
                "estimate",
                "slow requests in collections",
            ),
            _col(message("service waits for a core"), "service", "estimate", "time without a core, service"),
            _col(message("service waits for a core, timed window"), "service", "usual", "time without a core, any"),
            _col(message("client waits for a core"), "client", "estimate", "time without a core, client"),
            _col(message("CPU steal"), "steal", "estimate", "time stolen"),
        ],
        [(head, of_setting) for head, of_setting in named if of_setting],
        folded=True,
        caption=message(
            "Figures cover all services while clients were timed. They are medians over the blocks (measured "
            "rounds), except that the longest collection is the longest of all blocks. Time in garbage collections "
            "is a share of a process's time. The last five columns are shares of the time of slow requests: "
            "those slower than the percentile in the second column. The figure for the timed window covers the whole "
            "window. Waits for a core are the share of time in which a runnable thread had no core."
        ),
    )


def _col(head: Message, name: str, what: str, figure: str) -> Col[ArmPauses]:
    """Return the table column with the slow requests' share of time that one cause took.

    what: "estimate", or the field of SlowShare whose median over the blocks is shown
    """

    def value(each: ArmPauses) -> float | Estimate | None:
        share = each.shares.get(name)
        if share is None:
            return None
        return share.estimate if what == "estimate" else float(np.median(getattr(share, what)))

    return col(head, value, whole_percent, figure, trace=_cells)


def _cells(each: ArmPauses) -> str:
    return each.row.trace


def _notes(every: Sequence[ArmPauses]) -> Iterator[Message]:
    """Yield the notes that explain the table of garbage collections; no notes if no service recorded collections."""
    if every:
        yield message(
            "The time of a garbage collection is measured between its two calls of gc.callbacks. Without a GIL, this "
            "time includes the wait until every thread has stopped. Waits for a core are read from the kernel's "
            "scheduler while clients send requests (docs/why.md). Figures are missing for services without Python, and "
            "for clients that do not record the time of each request."
        )
    unkept = max((each.unkept for each in every), default=0.0)
    if unkept > MOST_OVERWRITTEN:
        yield message(
            "For up to {share} of a runtime's garbage collections, the recorded times were overwritten by the times of "
            "newer collections. Garbage collections may therefore take more time of slow requests than shown.",
            share=whole_percent(unkept),
        )
