"""What the verdicts rest on: the checks that the run passed or did not, what was not measured, and what would. Pure."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from core.result import Run
from reports import claims, memory
from reports.comparisons import OVER_ALL, SHORTEST_WINDOW_NS, Comparison
from reports.evidence import MOST_MARGIN
from reports.findings import validity
from reports.notes import troubles
from reports.page.figures import Section
from reports.record import covers_the_seed
from reports.scaling_report import scalings
from reports.summary import Row
from reports.view import View
from reports.wording import said

PASSED, LOOK, FAILED = "passed", "look", "failed"
SIGNS = {PASSED: "✓", LOOK: "!", FAILED: "×"}


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check. state: passed, look or failed; seen: what was seen, in words."""

    what: str
    state: str
    seen: str

    @property
    def sign(self) -> str:
        """The state without colour."""
        return SIGNS[self.state]


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Something that was not measured, and the command that would; empty where there is none."""

    what: str
    command: str = ""


_CHECKS = {
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
        "gil_seen": "{invalid} cells invalid",
        "window_seen": "{short} of {all} rows are shorter",
        "none": "no sign of the contrary",
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
        "gil_seen": "{invalid} 个单元无效",
        "window_seen": "{all} 行中有 {short} 行更短",
        "none": "没有相反的迹象",
        "noise_unknown": "没有测量",
        "noise_between": "{least} 到 {most}",
    },
}

_GAPS = {
    "en": {
        "resume": "Cells of the plan that are not measured",
        "aa": "The noise floor: one runtime twice (A/A)",
        "blocks": "Verdicts that are still open: about so many blocks",
        "topology": "Processes against threads, and where they cross",
        "scaling": "How throughput grows with workers and clients",
        "memory": "Memory against the number of clients",
        "record": "The rows of the seed's record",
    },
    "zh": {
        "resume": "计划中尚未测量的单元",
        "aa": "噪声水平：同一运行时测两次（A/A）",
        "blocks": "尚无定论的比较：大约需要这么多区组",
        "topology": "进程与线程的搭配，以及交叉点",
        "scaling": "吞吐量如何随线程数和客户端数增长",
        "memory": "内存随客户端数量的变化",
        "record": "原实验记录的各行",
    },
}


def checks(view: View, lang: str) -> list[Check]:
    """Every gate of the run, and what was seen of it."""
    words = _CHECKS[lang]
    compared = {arm for one in view.comparisons for arm in (one.denominator, one.numerator)}
    rows = [row for row in view.rows if not compared or compared & {row.runtime, row.system}]
    return [*_cell_checks(view.run, words), _window(rows, words), *_noted(view.comparisons, words, lang)]


def _cell_checks(run: Run, words: Mapping[str, str]) -> list[Check]:
    cells, ok = run.cells, [cell for cell in run.cells if cell.status == "ok"]
    asked, answered = sum(cell.requests for cell in ok), sum(cell.answered for cell in ok)
    wrong, invalid = sum(cell.wrong for cell in cells), sum(cell.status == "invalid" for cell in cells)
    told = words["answers_seen"].format(answered=f"{answered:,}", asked=f"{asked:,}", wrong=f"{wrong:,}")
    whole = PASSED if len(ok) == len(cells) else FAILED
    good = PASSED if not wrong and answered >= asked else FAILED
    return [
        Check(what=words["cells"], state=whole, seen=words["cells_seen"].format(ok=len(ok), all=len(cells))),
        Check(what=words["answers"], state=good, seen=told),
        Check(what=words["gil"], state=FAILED if invalid else PASSED, seen=words["gil_seen"].format(invalid=invalid)),
    ]


def _window(rows: Sequence[Row], words: Mapping[str, str]) -> Check:
    timed = [row for row in rows if any(cell.clients for cell in row.good)]
    short = sum(median(cell.wall_ns for cell in row.good) < SHORTEST_WINDOW_NS for row in timed)
    told = words["window_seen"].format(short=short, all=len(timed))
    return Check(what=words["window"], state=FAILED if short else PASSED, seen=told)


def _noted(compared: Sequence[Comparison], words: Mapping[str, str], lang: str) -> list[Check]:
    confounds = list(dict.fromkeys(text for one in compared for text in one.confounds))
    notes = list(dict.fromkeys(text for one in compared for text in one.notes))
    clients = [text for text in notes if text.startswith("the clients")]
    quiet = [text for text in notes if text.startswith("the machine")]
    found = {"builds": confounds, "clients": clients[:1], "quiet": quiet[:1]}
    made = [
        Check(
            what=words[name],
            state=LOOK if some else PASSED,
            seen="; ".join(said(text, lang) for text in some) or words["none"],
        )
        for name, some in found.items()
    ]
    return [*made, _noise(compared, words)]


def _noise(compared: Sequence[Comparison], words: Mapping[str, str]) -> Check:
    floors = [one.noise_floor for one in compared if one.noise_floor is not None and one.step == "aa"]
    if not floors:
        return Check(what=words["noise"], state=LOOK, seen=words["noise_unknown"])
    least, most = f"{min(floors):.1%}", f"{max(floors):.1%}"
    told = least if least == most else words["noise_between"].format(least=least, most=most)
    return Check(what=words["noise"], state=PASSED if max(floors) <= MOST_MARGIN else LOOK, seen=told)


def rests_on(view: View, lang: str) -> list[str]:
    """Blocks, order, noise and clients in words."""
    return [said(line, lang) for line in validity(view.run, view.comparisons)]


def gaps(view: View, sections: Sequence[Section], lang: str) -> list[Gap]:
    """What this page could show and the run has not, with commands."""
    words, command = _GAPS[lang], command_line(view.run)
    lacking = [Gap(what=line, command=_install(line)) for line in troubles(view.run, view.rows) if "uv python" in line]
    if any(len(row.cells) < row.planned for row in view.rows):
        lacking.append(Gap(what=words["resume"], command=f"python runner.py --resume reports/out/{view.run.run_id}"))
    compared = [one for one in view.comparisons if one.step != "aa"]
    if compared and not any(one.step == "aa" for one in view.comparisons):
        lacking.append(Gap(what=words["aa"], command=f"{command} --aa"))
    needed = [found[1] for one in answering(compared) if (found := blocks_needed(one))]
    if needed:
        lacking.append(
            Gap(what=words["blocks"], command=f"{command_line(view.run, '--blocks')} --blocks {max(needed)}")
        )
    there = {
        "topology": bool(claims.topologies(view.run)),
        "scaling": bool(scalings(view.run)),
        "memory": bool(memory.growths(view.run)),
        "record": covers_the_seed(view.rows),
    }
    lacking += [
        Gap(what=words[name], command=f"python runner.py --experiment {name}") for name, has in there.items() if not has
    ]
    return [*lacking, *(Gap(what=one.head, command=one.command) for one in sections if not one.body and one.command)]


def answering(compared: Sequence[Comparison]) -> list[Comparison]:
    """Those that the verdict tells of: over all settings, or of the only setting there is."""
    return [one for one in compared if one.system == OVER_ALL] or list(compared)


def blocks_needed(one: Comparison) -> tuple[int, int] | None:
    """How many more blocks its reason asks for, and how many in all; None where it asks for none."""
    found = re.search(r"about (\d+) more are needed, (\d+) blocks in all", one.why)
    return (int(found[1]), int(found[2])) if found else None


def _install(line: str) -> str:
    found = re.search(r"uv python install \S+", line)
    return found[0].rstrip(".") if found else ""


def command_line(run: Run, without: str = "--out") -> str:
    """The command that began the run, as one types it, but for the flag *without* and the folder."""
    arguments = run.command or ["runner.py"]
    dropped = ("--out", without)
    kept = [
        one
        for before, one in pairwise(["", *arguments])
        if before not in dropped and one.partition("=")[0] not in dropped
    ]
    return shlex.join(["python", *kept])


def repeat_command(run: Run) -> str:
    """The command that measures the same cells in the same order again."""
    command = command_line(run)
    return command if " --seed" in command else f"{command} --seed {run.seed}"
