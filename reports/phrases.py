"""The sentences of a report by language: the clauses of its verdict, and English phrases with what others say for them.

{name} stands for some text. In PHRASES the more special of two phrases that fit comes first.
"""

from collections.abc import Mapping

from reports.phrases_record import RECORD_ZH

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
        "arms": "{numerator}, beside {denominator},",
        "whole": "the whole way, {denominator} to {numerator},",
    },
    "zh": {
        "lock": "去掉全局解释锁（GIL）",
        "build": "自由线程构建本身",
        "version": "仅从 {denominator} 换到 {numerator} ",
        "other": "从 {denominator} 到 {numerator}（多个原因混在一起）",
        "arms": "{numerator} 与 {denominator} 相比",
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
        "arms slower": "{numerator} is {times} x slower than {denominator}{span}",
        "arms faster": "{numerator} is {times} x faster than {denominator}{span}",
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
    # what a verdict rests on (reports/evidence.py)
    "the interval {low} to {high} lies inside {margin}; a smaller difference is there ({p})": (
        "区间 {low} 到 {high} 落在 {margin} 以内；其中确有较小的差异（{p}）"
    ),
    "the interval {low} to {high} lies inside {margin}": "区间 {low} 到 {high} 落在 {margin} 以内",
    "the interval {low} to {high} leaves out 1 and {p}": "区间 {low} 到 {high} 不含 1，且 {p}",
    "the interval {low} to {high} leaves out 1 but {p}, above {alpha}": (
        "区间 {low} 到 {high} 不含 1，但 {p}，高于 {alpha}"
    ),
    "the interval {low} to {high} holds 1 and reaches beyond {margin}": (
        "区间 {low} 到 {high} 包含 1，且超出 {margin}"
    ),
    "{blocks} cannot have an interval": "{blocks}无法给出区间",
    "{blocks} cannot bring p to {alpha} adjusted for {family} comparisons": (
        "{blocks}不可能使 p 降到 {alpha}（已按 {family} 个比较校正）"
    ),
    "{blocks} cannot bring p to {alpha}": "{blocks}不可能使 p 降到 {alpha}",
    "about {more} more are needed, {all} blocks in all": "大约还需要 {more} 个区组，共 {all} 个",
    "about {least} to {most} more blocks are needed": "大约还需要 {least} 到 {most} 个区组",
    "about {more} more blocks are needed": "大约还需要 {more} 个区组",
    "more than {most} blocks are needed at this spread": "在这样的离散程度下需要 {most} 个以上的区组",
    "p is {p} adjusted for {family} comparisons": "p 为 {p}（已按 {family} 个比较校正）",
    "p is {p}": "p 为 {p}",
    "no block has both arms; at least {fewest} blocks are needed": "没有一个区组同时测了两方；至少需要 {fewest} 个区组",
    # gates and notes (reports/comparisons.py)
    "the timed window is {seconds} s; a verdict wants at least 1 s: more requests, or --duration 1": (
        "计时窗口只有 {seconds} 秒；下结论至少需要 1 秒：请增加请求数，或使用 --duration 1"
    ),
    "no setting passed its gates": "没有一组设置通过检查",
    "{count} of {all} cells failed: {reason}": "{all} 个单元中有 {count} 个失败：{reason}",
    "{arm} in block {block}: {reason}": "区组 {block} 中的 {arm}：{reason}",
    "the clients used {share} of the cores they could have had: the service's figures are a lower bound": (
        "客户端用掉了可用核心的 {share}：服务端的数字只是下限"
    ),
    "the machine was not quiet in {count} of {all} cells: {names}": (
        "{all} 个单元中有 {count} 个测量时机器不安静：{names}"
    ),
    "other processes": "其他进程",
    "confound: {what}": "混杂因素：{what}",
    # validity (reports/findings.py)
    "{blocks}, cells in random order (seed {seed}).": "{blocks}，单元按随机顺序测量（种子 {seed}）。",
    "Noise floor (the same runtime twice): {least} to {most}.": "噪声水平（同一运行时测两次）：{least} 到 {most}。",
    "Noise floor (the same runtime twice): {floor}.": "噪声水平（同一运行时测两次）：{floor}。",
    "No A/A arm was measured, so the noise floor is not known: add --aa.": (
        "没有做 A/A 对照，噪声水平未知：请加上 --aa。"
    ),
    "Clients run under the service's runtime, so both sides change: --client-runtime holds them.": (
        "客户端与服务端使用同一运行时，因此两侧同时变化：用 --client-runtime 可以固定客户端。"
    ),
    "Clients run under {runtime} in every cell: only the service changes.": (
        "所有单元的客户端都运行在 {runtime} 下：只有服务端变化。"
    ),
    "{one} -> {other} mixes {causes}: nothing between them was measured. To separate them, add --runtime {names}.": (
        "{one} -> {other} 混合了{causes}：两者之间没有测量别的运行时。要把它们分开，请加上 --runtime {names}。"
    ),
    "{one} -> {other} mixes {causes}: nothing between them was measured.": (
        "{one} -> {other} 混合了{causes}：两者之间没有测量别的运行时。"
    ),
    "version and build and lock": "版本、构建和锁",
    "version and build": "版本和构建",
    "version and lock": "版本和锁",
    "build and lock": "构建和锁",
    "version": "版本",
    "build": "构建",
    "lock": "锁",
    # the sentences of the terminal (reports/findings.py)
    "{cause} makes it {times} x faster {where}: {span}.": "{cause}{where}速度是原来的 {times} 倍：{span}。",
    "{cause} makes it {times} x slower {where}: {span}.": "{cause}{where}耗时是原来的 {times} 倍：{span}。",
    "{cause} changes nothing that matters over all cells: {span}.": "{cause}在全部单元上没有有意义的变化：{span}。",
    "{cause} changes nothing that matters for system {system}: {span}.": (
        "{cause}对系统 {system} 没有有意义的变化：{span}。"
    ),
    "{cause} over all cells is inconclusive: {span}; {why}.": "{cause}在全部单元上尚无定论：{span}；{why}。",
    "{cause} for system {system} is inconclusive: {span}; {why}.": "{cause}对系统 {system} 尚无定论：{span}；{why}。",
    "{cause} over all cells: no verdict, because {why}.": "{cause}在全部单元上无法下结论：{why}。",
    "{cause} for system {system}: no verdict, because {why}.": "{cause}对系统 {system} 无法下结论：{why}。",
    "{cause} over all cells: not measured; {why}.": "{cause}在全部单元上没有测量；{why}。",
    "{cause} for system {system}: not measured; {why}.": "{cause}对系统 {system} 没有测量；{why}。",
    "The newer version ({step})": "更新的版本（{step}）",
    "The free-threaded build with its GIL on ({step})": "打开 GIL 的自由线程构建（{step}）",
    "Removing the GIL ({step})": "去掉 GIL（{step}）",
    "The whole way ({step})": "全程（{step}）",
    "The mix of causes ({step})": "混合的原因（{step}）",
    "over all cells": "在全部单元上",
    "for system {system}": "对系统 {system} ",
    # topology (reports/topology.py)
    "CALC_TARGET {load}: {rest}": "CALC_TARGET {load}：{rest}",
    "{threaded} serves {over_one} what {one} does and {over_many} what {many} do, with {memory} their memory.": (
        "{threaded}的吞吐量是{one}的 {over_one} 倍、{many}的 {over_many} 倍，内存是后者的 {memory} 倍。"
    ),
    "{threaded} overtakes {many} between CALC_TARGET {low} and {high}.": (
        "{threaded}在 CALC_TARGET {low} 与 {high} 之间超过{many}。"
    ),
    "{threaded} never overtakes {many} within the sweep; at best it serves {times} x as much, at CALC_TARGET {load}.": (
        "{threaded}在扫描范围内始终没有超过{many}；最好时（CALC_TARGET {load}）为其 {times} 倍。"
    ),
    "{threaded} is not shown to overtake {many} within the sweep; at best it serves {times} x as much, at {load}.": (
        "没有证据表明{threaded}在扫描范围内超过{many}；最好时（{load}）为其 {times} 倍。"
    ),
    "{threaded} serves more than {many} at every CALC_TARGET of the sweep, {low} to {high}.": (
        "{threaded}在扫描的每个 CALC_TARGET（{low} 到 {high}）都超过{many}。"
    ),
    "{threaded} cannot be told to overtake {many} or not from fewer than {blocks} blocks.": (
        "少于 {blocks} 个区组，无法判断{threaded}是否超过{many}。"
    ),
    "1 process of {threads} threads on {arm}": "{arm} 上 1 个 {threads} 线程的进程",
    "1 process on {arm}": "{arm} 上的 1 个进程",
    "{count} processes on {arm}": "{arm} 上的 {count} 个进程",
    # memory (reports/memory.py)
    "{where}: the service takes {low} at {few} and {high} at {many}: no growth can be told "
    "({span} for each further client); a client takes {each}.": (
        "{where}：服务端在 {few} 时占用 {low}，在 {many} 时占用 {high}：看不出增长（每多一个客户端 {span}）；"
        "一个客户端占用 {each}。"
    ),
    "{where}: the service takes {low} at {few} and {high} at {many}: {slope} for each further client; "
    "a client takes {each}.": (
        "{where}：服务端在 {few} 时占用 {low}，在 {many} 时占用 {high}：每多一个客户端增加 {slope}；"
        "一个客户端占用 {each}。"
    ),
    "1 client": "1 个客户端",
    "{count} clients": "{count} 个客户端",
    "{value} x ({low} to {high})": "{value}（{low} 到 {high}）",
    "{value} ({low} to {high})": "{value}（{low} 到 {high}）",
    "{low} to {high}": "{low} 到 {high}",
    # scaling and fairness (reports/scaling_report.py, reports/fairness.py)
    "{name} has {count} values: a scaling fit takes at least {least}.": (
        "{name} 只有 {count} 个取值：扩展性拟合至少需要 {least} 个。"
    ),
    "Requests are shared unevenly among {among} in {count} of {all} rows (Jain index below {limit}), "
    "least evenly in {where}: {jain}, as if {some} of {sharers} had all of them.": (
        "{all} 行中有 {count} 行的请求在{among}之间分配不均（Jain 指数低于 {limit}），最不均匀的是 {where}："
        "{jain}，相当于 {sharers} 个中只有 {some} 个承担了全部请求。"
    ),
    "workers": "工作线程",
    "connections": "连接",
    "sockets": "socket ",
    # the seed's tables (reports/seed.py)
    "Time that each client takes to send all of its requests.": "每个客户端发送完所有请求的耗时",
    "Select on all connections, with another NUM_MULTI_SOCKET.": (
        "在对所有连接使用 select 的情况下，改变 NUM_MULTI_SOCKET 的值"
    ),
    "Select on single connections, each client bound to one, with another NUM_MULTI_SOCKET.": (
        "在对单个连接使用 select、每个客户端只绑定一个连接的情况下，改变 NUM_MULTI_SOCKET 的值"
    ),
    "a connection for every request": "每个请求新建连接",
    "client reuses connections": "客户端复用连接",
    "client does not reuse connections": "客户端不复用连接",
    "select on all connections": "对所有连接使用 select",
    "select on single connections": "对单个连接使用 select",
    "{ratio} [no interval]": "{ratio}（无区间）",
    # counts
    "1 block": "1 个区组",
    "{count} blocks": "{count} 个区组",
}

PHRASES: Mapping[str, Mapping[str, str]] = {"zh": {**RECORD_ZH, **_ZH}}
