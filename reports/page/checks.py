"""What the verdicts rest on: the checks that the run passed or did not, or that nothing is known of. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from core.result import DISTURBANCES, CellResult, Run
from core.runtime import NATIVE
from reports.findings.findings import validity
from reports.page.pieces import Piece, Sentence, together
from reports.page.traces import Traces, of_cells, of_rows
from reports.rows.comparisons import MOST_DISTURBED, MOST_SATURATION, SHORTEST_WINDOW_NS, Comparison
from reports.rows.costs import saturation
from reports.rows.summary import Row
from reports.rows.view import View
from reports.statistics.evidence import MOST_MARGIN
from reports.words.translation import said, said_together

PASSED, LOOK, FAILED, UNKNOWN = "passed", "look", "failed", "unknown"
SIGNS = {PASSED: "✓", LOOK: "!", FAILED: "×", UNKNOWN: "?"}


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check. state: passed, look, failed, or unknown where nothing was there to check.

    seen: what was seen, in words; cells: the groups of cells that it was seen in
    """

    what: str
    state: str
    seen: str
    cells: str = ""

    @property
    def sign(self) -> str:
        """The state without colour."""
        return SIGNS[self.state]


CHECKS = {
    "en": {
        "cells": "Cells measured",
        "answers": "Answers",
        "gil": "GIL as the runtime's name says",
        "window": "Timed for 1 s at least",
        "builds": "Builds differ in nothing but the step",
        "clients": "Clients not the narrow place",
        "quiet": "Quiet machine",
        "noise": "Noise floor (A/A)",
        "cells_seen": "{ok} of {all} ok",
        "answers_seen": "{answered} of {asked} answered, {wrong} wrong",
        "gil_seen": "{told} of {all} cells told it, {invalid} invalid",
        "window_seen": "{short} of {all} rows are shorter",
        "builds_seen": "compiler, flags and versions are alike",
        "clients_seen": "{worst} at most of the cores they could have had; above {limit} in {count} of {all} rows",
        "quiet_seen": "not quiet in {count} of {all} cells",
        "quiet_names": "not quiet in {count} of {all} cells: {names}",
        "nothing": "no cell tells",
        "not_compared": "nothing is compared",
        "builds_unknown": "the run does not say how all of them were built",
        "noise_unknown": "not measured",
        "noise_between": "{least} to {most}",
    },
    "zh": {
        "cells": "已测量的单元",
        "answers": "应答",
        "gil": "GIL 状态与运行时名称相符",
        "window": "至少计时 1 秒",
        "builds": "各构建只在该步骤上不同",
        "clients": "客户端不是瓶颈",
        "quiet": "机器安静",
        "noise": "噪声水平（A/A）",
        "cells_seen": "{all} 个中有 {ok} 个正常",
        "answers_seen": "{asked} 个请求中应答 {answered} 个，答错 {wrong} 个",
        "gil_seen": "{all} 个单元中有 {told} 个报告了状态，{invalid} 个无效",
        "window_seen": "{all} 行中有 {short} 行更短",
        "builds_seen": "编译器、编译选项与版本一致",
        "clients_seen": "最多用掉可用核心的 {worst}；{all} 行中有 {count} 行高于 {limit}",
        "quiet_seen": "{all} 个单元中有 {count} 个测量时不安静",
        "quiet_names": "{all} 个单元中有 {count} 个测量时不安静：{names}",
        "nothing": "没有单元说明",
        "not_compared": "没有比较",
        "builds_unknown": "这次运行没有说明所有构建的编译方式",
        "noise_unknown": "没有测量",
        "noise_between": "{least} 到 {most}",
    },
}


def checks(view: View, lang: str) -> list[Check]:
    """Every gate of the run, and what was seen of it."""
    words, run = CHECKS[lang], view.run
    compared = {arm for one in view.comparisons for arm in (one.denominator, one.numerator)}
    rows = [row for row in view.rows if not compared or row.runtime in compared]
    return [
        _measured(run, words),
        _answers(run, words),
        _gil(run, words),
        _window(rows, words),
        _builds(view, words, lang),
        _clients(rows, run, words),
        _quiet(view, words, lang),
        _noise(view, words),
    ]


def _measured(run: Run, words: Mapping[str, str]) -> Check:
    bad = run.failed_cells
    told = words["cells_seen"].format(ok=len(run.cells) - len(bad), all=len(run.cells))
    state = FAILED if bad else PASSED if run.cells else UNKNOWN
    return Check(what=words["cells"], state=state, seen=told, cells=of_cells(bad or run.cells))


def _answers(run: Run, words: Mapping[str, str]) -> Check:
    ok = [cell for cell in run.cells if cell.status == "ok"]
    asked, answered = sum(cell.requests for cell in ok), sum(cell.answered for cell in ok)
    wrong = sum(cell.wrong for cell in run.cells)
    state = FAILED if wrong or answered < asked else PASSED if asked else UNKNOWN
    told = words["answers_seen"].format(answered=f"{answered:,}", asked=f"{asked:,}", wrong=f"{wrong:,}")
    short = [cell for cell in run.cells if cell.wrong or (cell in ok and cell.answered < cell.requests)]
    return Check(what=words["answers"], state=state, seen=told, cells=of_cells(short or ok))


def _gil(run: Run, words: Mapping[str, str]) -> Check:
    interpreted = [cell for cell in run.cells if cell.runtime != NATIVE]
    invalid = [cell for cell in interpreted if cell.status == "invalid"]
    told = [cell for cell in interpreted if _tells_gil(cell)]
    state = FAILED if invalid else PASSED if told else UNKNOWN
    seen = words["gil_seen"].format(told=len(told), all=len(interpreted), invalid=len(invalid))
    return Check(what=words["gil"], state=state, seen=seen, cells=of_cells(invalid or told))


def _tells_gil(cell: CellResult) -> bool:
    return any(one.get("gil_enabled_end") is not None for one in (*cell.services, *cell.clients))


def _window(rows: Sequence[Row], words: Mapping[str, str]) -> Check:
    timed = [row for row in rows if any(cell.clients for cell in row.good)]
    short = [row for row in timed if median(cell.wall_ns for cell in row.good) < SHORTEST_WINDOW_NS]
    state = FAILED if short else PASSED if timed else UNKNOWN
    seen = words["window_seen"].format(short=len(short), all=len(timed))
    return Check(what=words["window"], state=state, seen=seen, cells=of_rows(short or timed))


def _builds(view: View, words: Mapping[str, str], lang: str) -> Check:
    compared = [one for one in view.comparisons if one.step != "aa"]
    facts = [view.run.runtimes.get(arm, {}) for one in compared for arm in (one.denominator, one.numerator)]
    confounds = list(dict.fromkeys(text for one in compared for text in one.confounds))
    if confounds:
        return Check(what=words["builds"], state=LOOK, seen=said_together(confounds, lang))
    known = bool(facts) and all(one.get("compiler") and one.get("flags") for one in facts)
    unknown = words["builds_unknown" if facts else "not_compared"]
    return Check(
        what=words["builds"], state=PASSED if known else UNKNOWN, seen=words["builds_seen"] if known else unknown
    )


def _clients(rows: Sequence[Row], run: Run, words: Mapping[str, str]) -> Check:
    """By the row whose clients were busiest."""
    pinned = len(run.plan.get("method", {}).get("pin_clients", ()))
    used = [(row, [saturation(cell, run.machine, pinned) for cell in row.good]) for row in rows]
    shares = [(median(known), row) for row, some in used if (known := [one for one in some if one is not None])]
    if not shares:
        return Check(what=words["clients"], state=UNKNOWN, seen=words["nothing"])
    worst = max(share for share, _ in shares)
    above = [row for share, row in shares if share > MOST_SATURATION]
    seen = words["clients_seen"].format(
        worst=f"{worst:.0%}", limit=f"{MOST_SATURATION:.0%}", count=len(above), all=len(shares)
    )
    busiest = [row for share, row in shares if share == worst]
    return Check(what=words["clients"], state=LOOK if above else PASSED, seen=seen, cells=of_rows(above or busiest))


def _quiet(view: View, words: Mapping[str, str], lang: str) -> Check:
    cells = view.run.cells
    disturbed = [cell for cell in cells if cell.disturbances]
    if not disturbed and ("quiet" not in view.run.machine or not cells):  # in files from before it was looked at
        return Check(what=words["quiet"], state=UNKNOWN, seen=words["nothing"])
    shares = [len(disturbed) / len(cells), *(one.disturbed or 0.0 for one in view.comparisons)]
    names = dict.fromkeys(str(DISTURBANCES.get(one.code, one)) for cell in disturbed for one in cell.disturbances)
    template = words["quiet_names" if names else "quiet_seen"]
    seen = template.format(count=len(disturbed), all=len(cells), names=", ".join(said(one, lang) for one in names))
    state = LOOK if max(shares) > MOST_DISTURBED else PASSED
    return Check(what=words["quiet"], state=state, seen=seen, cells=of_cells(disturbed or cells))


def _noise(view: View, words: Mapping[str, str]) -> Check:
    measured = [one for one in view.comparisons if one.step == "aa" and one.noise_floor is not None]
    floors = [one.noise_floor for one in measured if one.noise_floor is not None]
    if not floors:
        return Check(what=words["noise"], state=UNKNOWN, seen=words["noise_unknown"])
    least, most = f"{min(floors):.1%}", f"{max(floors):.1%}"
    seen = least if least == most else words["noise_between"].format(least=least, most=most)
    state = PASSED if max(floors) <= MOST_MARGIN else LOOK
    return Check(what=words["noise"], state=state, seen=seen, cells=_of(measured, view))


def _of(compared: Sequence[Comparison], view: View) -> str:
    traces = Traces(view)
    return together(traces.of(one) for one in compared)


def rests_on(view: View, lang: str) -> list[Sentence]:
    """Blocks, order, noise and clients in words."""
    cells = of_cells(view.run.cells)
    return [
        Sentence(pieces=(Piece(text=said(line, lang), cells=cells),)) for line in validity(view.run, view.comparisons)
    ]
