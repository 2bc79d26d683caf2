"""The sentences of a report by language: the clauses of its verdict, and English phrases with what others say for them.

{name} stands for some text: a phrase itself, or what reports/words/translation.py says. In PHRASES the more special
of two that fit comes first.
"""

from collections.abc import Mapping

from reports.words.phrases_findings import FINDINGS_ZH
from reports.words.phrases_record import RECORD_ZH

PLACES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "one": "system {system}",
        "systems": "the {count} systems together",
        "settings": "all {count} settings together",
    },
    "zh": {"one": "系统 {system} ", "systems": "{count} 个系统合计", "settings": "全部 {count} 组设置合计"},
}

CAUSES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "lock": "removing the GIL",
        "build": "the free-threaded build",
        "version": "{denominator} to {numerator} alone",
        "other": "{denominator} to {numerator} (several causes at once)",
        "arms": "service {numerator}, beside {denominator},",
        "whole": "the whole way, {denominator} to {numerator},",
    },
    "zh": {
        "lock": "去掉全局解释锁（GIL）",
        "build": "自由线程构建本身",
        "version": "仅从 {denominator} 换到 {numerator} ",
        "other": "从 {denominator} 到 {numerator}（多个原因混在一起）",
        "arms": "服务 {numerator} 与 {denominator} 相比",
        "whole": "从 {denominator} 到 {numerator} 的全程",
    },
}

CLAUSES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "build slower": "{cause} costs {share}{share_span}",
        "build faster": "{cause} gives {share}{share_span}",
        "version slower": "{cause} costs {share}{share_span}",
        "version faster": "{cause} gives {share}{share_span}",
        "whole slower": "{cause} is {times} x slower{span}",
        "whole faster": "{cause} is {times} x faster{span}",
        "arms slower": "service {numerator} is {times} x slower than {denominator}{span}",
        "arms faster": "service {numerator} is {times} x faster than {denominator}{span}",
        "arms equivalent": "{cause} is no different: {ratio}{span}",
        "slower": "{cause} makes {where} {times} x slower{span}",
        "faster": "{cause} makes {where} {times} x faster{span}",
        "equivalent": "{cause} changes nothing that matters: {ratio}{span}",
        "inconclusive": "{cause} has no verdict yet: {ratio}{span}",
        "invalid": "{cause} has no verdict, because {why}",
        "unmeasured": "{cause} was not measured; {why}",
    },
    "zh": {
        "build slower": "{cause}多耗时 {share}{share_span}",
        "build faster": "{cause}提速 {share}{share_span}",
        "version slower": "{cause}就多耗时 {share}{share_span}",
        "version faster": "{cause}就提速 {share}{share_span}",
        "whole slower": "{cause}，耗时是原来的 {times} 倍{span}",
        "whole faster": "{cause}，速度是原来的 {times} 倍{span}",
        "arms slower": "{cause}，耗时是其 {times} 倍{span}",
        "arms faster": "{cause}，速度是其 {times} 倍{span}",
        "arms equivalent": "{cause}没有有意义的差别：{ratio}{span}",
        "slower": "{cause}后，{where}的耗时是原来的 {times} 倍{span}",
        "faster": "{cause}后，{where}的速度是原来的 {times} 倍{span}",
        "equivalent": "{cause}没有带来有意义的变化：{ratio}{span}",
        "inconclusive": "{cause}尚无定论：{ratio}{span}",
        "invalid": "{cause}无法下结论：{why}",
        "unmeasured": "{cause}没有测量；{why}",
    },
}

_ZH: Mapping[str, str] = {
    # what a verdict rests on (reports/statistics/evidence.py, reports/statistics/verdict.py)
    "the interval {low} to {high} lies inside {margin}; a smaller difference is there ({reason})": (
        "区间 {low} 到 {high} 落在 {margin} 以内；其中确有较小的差异（{reason}）"
    ),
    "the interval {low} to {high} lies inside {margin}": "区间 {low} 到 {high} 落在 {margin} 以内",
    "the interval {low} to {high} leaves out 1 and {chance}": "区间 {low} 到 {high} 不含 1，且 {chance}",
    "the interval {low} to {high} leaves out 1 but {chance}, above {alpha}": (
        "区间 {low} 到 {high} 不含 1，但 {chance}，高于 {alpha}"
    ),
    "the interval {low} to {high} holds 1 and reaches beyond {margin}": (
        "区间 {low} 到 {high} 包含 1，且超出 {margin}"
    ),
    "{blocks} cannot have an interval": "{blocks}无法给出区间",
    "{blocks} cannot bring p to {alpha} adjusted for {family} comparisons": (
        "{blocks}不可能使 p 降到 {alpha}（已按 {family} 个比较校正）"
    ),
    "{blocks} cannot bring p to {alpha}": "{blocks}不可能使 p 降到 {alpha}",
    "about {more} more are needed, {blocks_in_all} blocks in all": "大约还需要 {more} 个区组，共 {blocks_in_all} 个",
    "about {least} to {most} more blocks are needed": "大约还需要 {least} 到 {most} 个区组",
    "about {more} more blocks are needed": "大约还需要 {more} 个区组",
    "more than {most} blocks are needed at this spread": "在这样的离散程度下需要 {most} 个以上的区组",
    "p is {p} adjusted for {family} comparisons": "p 为 {p}（已按 {family} 个比较校正）",
    "p is {p}": "p 为 {p}",
    "no block has both arms": "没有一个区组同时测了两方",
    "at least {fewest} blocks are needed": "至少需要 {fewest} 个区组",
    # gates and notes (reports/rows/comparisons.py, lab/run/measure.py)
    "the timed window is {seconds} s; a verdict wants at least 1 s: more requests, or --duration 1": (
        "计时窗口只有 {seconds} 秒；下结论至少需要 1 秒：请增加请求数，或使用 --duration 1"
    ),
    "no setting passed its gates": "没有一组设置通过检查",
    "{count} of {all} cells failed: {reason}": "{all} 个单元中有 {count} 个失败：{reason}",
    "{arm} in block {block}: {reason}": "区组 {block} 中的 {arm}：{reason}",
    "the GIL of {name} was on {when}: it was enabled to load module {module}": (
        "{name} 的 GIL 是打开的（{when}）：它因加载模块 {module} 而被打开"
    ),
    "the GIL of {name} was on {when}": "{name} 的 GIL 是打开的（{when}）",
    "the GIL of {name} was off {when}": "{name} 的 GIL 是关闭的（{when}）",
    "when ready and at the end": "就绪时和结束时",
    "when ready": "就绪时",
    "at the end": "结束时",
    "{count} of {all} requests were not answered": "{all} 个请求中有 {count} 个没有应答",
    "no request was sent": "没有发出任何请求",
    "{count} answers were wrong": "{count} 个应答有误",
    "no reason given": "没有给出原因",
    "the clients used {share} of the cores they could have had: the service's figures are a lower bound": (
        "客户端用掉了可用核心的 {share}：服务端的数字只是下限"
    ),
    "the machine was not quiet in {count} of {all} cells: {disturbances}": (
        "{all} 个单元中有 {count} 个测量时机器不安静：{disturbances}"
    ),
    "load": "负载",
    "CPU pressure": "CPU 压力",
    "other processes": "其他进程",
    "CPU steal": "CPU 被宿主机占用",
    "swapping": "内存交换",
    "throttling": "过热降频",
    "held by the quota": "被配额限制",
    "memory pressure": "内存压力",
    "confound: {confounds}": "混杂因素：{confounds}",
    "{flag} on against off": "{flag} 开对关",
    "{flag} off against on": "{flag} 关对开",
    "compiler {compiler} against {other_compiler}": "编译器 {compiler} 对 {other_compiler}",
    "version {version} against {other_version}": "版本 {version} 对 {other_version}",
    "package {name} {version} against {other_version}": "软件包 {name} {version} 对 {other_version}",
    # validity (reports/findings/findings.py, reports/rows/steps.py)
    "{blocks}, cells in random order (seed {seed}).": "{blocks}，单元按随机顺序测量（种子 {seed}）。",
    "Noise floor (the same runtime twice): {least} to {most}.": "噪声水平（同一运行时测两次）：{least} 到 {most}。",
    "Noise floor (the same runtime twice): {floor}.": "噪声水平（同一运行时测两次）：{floor}。",
    "No A/A arm was measured, so the noise floor is not known: add --aa.": (
        "没有做 A/A 对照，噪声水平未知：请加上 --aa。"
    ),
    "Clients run under the service's runtime, so both sides change: --client-runtime holds them.": (
        "客户端与服务端使用同一运行时，因此两侧同时变化：用 --client-runtime 可以固定客户端。"
    ),
    "Clients run under {arm} in every cell: only the service changes.": (
        "所有单元的客户端都运行在 {arm} 下：只有服务端变化。"
    ),
    "{arm} -> {other_arm} mixes {causes}: nothing between them was measured. To separate them, add --runtime "
    "{runtimes}": (
        "{arm} -> {other_arm} 混合了{causes}：两者之间没有测量别的运行时。要把它们分开，请加上 --runtime {runtimes}"
    ),
    "version and build and lock": "版本、构建和锁",
    "version and build": "版本和构建",
    "version and lock": "版本和锁",
    "build and lock": "构建和锁",
    "version": "版本",
    "build": "构建",
    "lock": "锁",
    # counts and estimates
    "1 block": "1 个区组",
    "{count} blocks": "{count} 个区组",
    "1 client": "1 个客户端",
    "{count} clients": "{count} 个客户端",
    "{value} ({low} to {high})": "{value}（{low} 到 {high}）",
    "{low} to {high}": "{low} 到 {high}",
    "{value} [no interval]": "{value}（无区间）",
}

# The last is the most general: a sentence on one setting.
_LAST_ZH: Mapping[str, str] = {"{about}: {sentence}": "{about}：{sentence}"}

PHRASES: Mapping[str, Mapping[str, str]] = {
    "en": {},
    "zh": {**_ZH, **FINDINGS_ZH, **RECORD_ZH, **_LAST_ZH},
}
