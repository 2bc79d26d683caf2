"""What was not measured, and the command that would: runtimes, cells, noise, blocks, chapters of the page. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.result import Run
from core.runtime import NATIVE, RuntimeName
from reports.findings import memory
from reports.findings.scaling import scalings
from reports.page.commands import command_line, resume_command
from reports.record.record import covers_the_seed
from reports.rows.comparisons import OVER_ALL, Comparison
from reports.rows.view import View
from reports.words.absent import absences
from reports.words.translation import said

ALL_RUNTIMES = "3.11,3.14,3.14t+gil,3.14t"
RECORDS = ("echo", "http-clients", "loadgen", "league")
Words = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Something that was not measured, and the command that would; empty where there is none.

    is_chapter: a chapter of the page that this run says nothing for, not something that its plan lacks
    """

    what: str
    command: str = ""
    is_chapter: bool = False


GAPS = {
    "en": {
        "missing": "Runtime {runtime}, which was not found",
        "absent": "{systems}: {reason}",
        "under": "{system} under {runtimes}",
        "resume": "{count} cells of the plan that are not measured",
        "aa": "The noise floor: one runtime twice (A/A)",
        "blocks": "Verdicts that are still open: about so many blocks",
        "comparisons": "Comparisons: version, build and lock",
        "waterfall": "The three steps of a system, each with a ratio",
        "completion": "Completion times",
        "sweeps": "A parameter at several values",
        "latency": "Latency by percentile",
        "costs": "Where the time of a request goes",
        "topology": "Processes against threads, and where they cross",
        "scaling": "How throughput grows with workers and clients",
        "memory": "Memory against the number of clients",
        "record": "The rows of the seed's record",
        "echo": "Echo servers of network libraries (echo record)",
        "http-clients": "HTTP clients that hold or release the GIL (HTTP record)",
        "loadgen": "Load generators side by side",
        "league": "Other ways to serve the same (league)",
    },
    "zh": {
        "missing": "未找到的运行时 {runtime}",
        "absent": "{systems}：{reason}",
        "under": "{system}（{runtimes}）",
        "resume": "计划中尚未测量的 {count} 个单元",
        "aa": "噪声水平：同一运行时测两次（A/A）",
        "blocks": "尚无定论的比较：大约需要这么多区组",
        "comparisons": "比较：版本、构建和锁",
        "waterfall": "一个系统的三个步骤，每步都有比值",
        "completion": "耗时",
        "sweeps": "一个参数的多个取值",
        "latency": "按百分位排列的延迟",
        "costs": "一个请求的时间花在哪里",
        "topology": "进程与线程的搭配，以及交叉点",
        "scaling": "吞吐量如何随线程数和客户端数增长",
        "memory": "内存随客户端数量的变化",
        "record": "原实验记录的各行",
        "echo": "各网络库的回显服务（echo 记录）",
        "http-clients": "持有或释放 GIL 的 HTTP 客户端（HTTP 记录）",
        "loadgen": "各压测工具的对照",
        "league": "同样服务的其他实现（league）",
    },
}


def gaps(view: View, shown: Mapping[str, bool], lang: str) -> list[Gap]:
    """What this page could show and the run has not, with commands.

    shown: of the page's own chapters, whether it has each: those of GAPS with a command here
    """
    words, run = GAPS[lang], view.run
    found = [
        *(_missing(name, words) for name in run.missing),
        *_absent(view, words, lang),
        *_unfinished(view, words),
        *_undecided(view, words),
    ]
    absent = [name for name, has in {**shown, **_elsewhere(view)}.items() if not has]
    return [*found, *(Gap(what=words[name], command=_command(name, run), is_chapter=True) for name in absent)]


def _missing(name: str, words: Words) -> Gap:
    command = "make native" if name == NATIVE else f"uv python install {RuntimeName.parse(name).interpreter}"
    return Gap(what=words["missing"].format(runtime=name), command=command)


def _absent(view: View, words: Words, lang: str) -> list[Gap]:
    """One for each reason, with all that it keeps away. Programs are built; packages are tried again by a run."""
    found: dict[tuple[str, bool], dict[str, list[str]]] = {}
    for (system, runtime), reason in absences(view.run).items():
        found.setdefault((reason, runtime == NATIVE), {}).setdefault(system, []).append(runtime)
    return [
        Gap(
            what=words["absent"].format(
                systems="; ".join(_under(system, some, view, words) for system, some in pairs.items()),
                reason=said(reason.rstrip("."), lang),
            ),
            command="make native" if is_native else command_line(view.run),
        )
        for (reason, is_native), pairs in found.items()
    ]


def _under(system: str, runtimes: Sequence[str], view: View, words: Words) -> str:
    name = view.titles.get(system, system)
    return name if runtimes == [NATIVE] else words["under"].format(system=name, runtimes=", ".join(runtimes))


def _unfinished(view: View, words: Words) -> list[Gap]:
    lacking = sum(max(0, row.planned - len(row.cells)) for row in view.rows)
    return [Gap(what=words["resume"].format(count=lacking), command=resume_command(view.run))] if lacking else []


def _undecided(view: View, words: Words) -> list[Gap]:
    """A/A where it is missing, and the blocks that open verdicts take."""
    compared = [one for one in view.comparisons if one.step != "aa"]
    found = []
    if compared and not any(one.step == "aa" for one in view.comparisons):
        found.append(Gap(what=words["aa"], command=f"{command_line(view.run)} --aa"))
    needed = [one.blocks_needed for one in answering(compared) if one.blocks_needed]
    if needed:
        command = command_line(view.run, "--blocks")
        found.append(Gap(what=words["blocks"], command=f"{command} --blocks {max(needed)}"))
    return found


def answering(compared: Sequence[Comparison]) -> list[Comparison]:
    """Those that the verdict tells of: over all settings, or of the only setting there is."""
    return [one for one in compared if one.system == OVER_ALL] or list(compared)


def _elsewhere(view: View) -> dict[str, bool]:
    """What other experiments measure, and whether this run has it."""
    there = {
        "scaling": bool(scalings(view.run)),
        "memory": bool(memory.growths(view.run)),
        "record": covers_the_seed(view.rows),
    }
    return {**there, **{name: view.run.plan.get("view", "") == name for name in RECORDS}}


def _command(name: str, run: Run) -> str:
    if name in ("topology", "scaling", "memory", "record", *RECORDS):
        return f"python runner.py --experiment {name}"
    if name in ("comparisons", "waterfall") and set(run.plan["runtimes"]) <= {NATIVE}:
        return "python runner.py --experiment evidence"  # native programs have no other runtime
    if name in ("comparisons", "waterfall"):
        return f"{command_line(run, '--runtime')} --runtime {ALL_RUNTIMES}"
    if name == "sweeps":
        return f"{command_line(run, '--num-clients')} --num-clients 1,2,4"
    return command_line(run)
