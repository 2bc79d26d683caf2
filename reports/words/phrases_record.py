"""Chinese for the record, the notes below a table, the terminal and the page of several runs. As in phrases.py."""

from collections.abc import Mapping

RECORD_ZH: Mapping[str, str] = {
    # headings and texts of record.md (reports/record/record.py)
    "Experiment record": "实验记录",
    "Environment": "测试环境",
    "Interpreters": "解释器",
    "How to read the results": "如何阅读结果",
    "Settings": "设置",
    "Results": "实验效果",
    "All figures": "全部数字",
    "System {system}": "系统 {system}",
    "Completion time by system and runtime": "各系统在各运行时下的耗时",
    "Run {run}, {day} to {other_day}, plan {plan}, --seed {seed}.": (
        "运行 {run}，{day} 至 {other_day}，计划 {plan}，--seed {seed}。"
    ),
    "Run {run}, begun {day}, not finished, plan {plan}, --seed {seed}.": (
        "运行 {run}，始于 {day}，尚未结束，计划 {plan}，--seed {seed}。"
    ),
    "Scale {scale}: a cell here has {size} requests, one of the seed's {all}. "
    "The seconds below cannot be set against the seed's.": (
        "规模 {scale}：这里的一个单元有 {size} 个请求，原记录为 {all} 个。下面的秒数不能与原记录比较。"
    ),
    "Not the seed's size: a cell here has {size} requests, one of the seed's {all}. "
    "The seconds below cannot be set against the seed's.": (
        "与原记录的规模不同：这里的一个单元有 {size} 个请求，原记录为 {all} 个。下面的秒数不能与原记录比较。"
    ),
    "The seed is the record that this experiment follows. Every time is in seconds. Ours: median over the blocks of "
    "the median over the clients, in brackets of the maximum over the clients; {blocks}, every response checked. The "
    "seed's: one run on another machine, an {machine}, under {gil} and {nogil} where its record says which. They are "
    "there to be looked at beside ours and are no mark to reach: another processor, other builds.": (
        "本实验沿用原实验的记录。时间单位均为秒。我们的数字：先取各客户端的中位数，再取各区组的中位数，括号内为最慢的"
        "客户端；{blocks}，每个应答都经过检查。原记录的数字：在另一台机器（{machine}）上跑一次，解释器为 {gil} 和 "
        "{nogil}（以其记录注明者为准）。列在旁边仅供对照，并非要达到的目标：处理器和构建都不同。"
    ),
    "here": "这里",
    "the seed's": "原记录",
    "name": "名称",
    "meaning": "含义",
    "unknown": "未知",
    "fewer": "较少",
    "PGO": "PGO",
    "no PGO": "无 PGO",
    "LTO": "LTO",
    "no LTO": "无 LTO",
    "static": "静态",
    "shared library": "共享库",
    "debug": "调试",
    "tail_call": "尾调用",
    "jit": "JIT",
    "not measured": "没有测量",
    "interpreter not named": "未注明解释器",
    "free-threaded": "自由线程",
    "default": "默认",
    "another machine's: {machine}, interpreter not named": "另一台机器：{machine}，未注明解释器",
    "another machine's: {machine}, {version}": "另一台机器：{machine}，{version}",
    "{arm}: not measured. {remedy}": "{arm}：没有测量。{remedy}",
    "This run has no system {system}: not measured.": "这次运行没有系统 {system}：没有测量。",
    "Kernel": "内核",
    "Processors": "处理器数",
    "Memory": "内存",
    "System": "系统",
    "ulimit -n (open files)": "ulimit -n（文件描述符）",
    "ulimit -u (processes)": "ulimit -u（进程数）",
    "Load before the run (1, 5, 15 min)": "运行前的负载（1、5、15 分钟）",
    # the seed's chapters (reports/record/seed.py)
    "A service has a single socket and no connection cache.": "每个服务只有一个 socket，没有连接缓存。",
    "A service has a single socket and a connection cache.": "每个服务只有一个 socket，有连接缓存。",
    "A Tornado service.": "Tornado 服务。",
    "Each service listens on several sockets, which share one connection cache and one thread pool.": (
        "每个服务监听多个 socket，它们共用一个连接缓存和一个线程池。"
    ),
    "The seed describes system 1 and publishes no settings and no figure for it.": (
        "原记录描述了系统 1，但没有公布其设置和数字。"
    ),
    'The seed\'s remark on its second figure: "even slower".': "原记录对第二个数字的评语：“更慢了”。",
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
    # columns (reports/rows/columns.py, reports/words/markdown.py)
    "system": "系统",
    "row": "行",
    "runtime": "运行时",
    "compiler": "编译器",
    "flags": "编译选项",
    "status": "状态",
    "completion median [s]": "耗时中位数 [秒]",
    "completion max [s]": "最大耗时 [秒]",
    "wall [s]": "总时长 [秒]",
    "requests/s": "请求/秒",
    "p50 [us]": "p50 [微秒]",
    "p99 [us]": "p99 [微秒]",
    "service CPU [us/request]": "服务端 CPU [微秒/请求]",
    "client CPU [us/request]": "客户端 CPU [微秒/请求]",
    "ratio": "比值",
    "blocks ok": "正常区组",
    "ok": "正常",
    "failed": "失败",
    "invalid": "无效",
    "{count} of {all} blocks failed: {reason}. {other_count} of {all_again} blocks invalid: {other_reason}": (
        "{all} 个区组中有 {count} 个失败：{reason}；{all_again} 个中有 {other_count} 个无效：{other_reason}"
    ),
    "{count} of {all} blocks failed: {reason}": "{all} 个区组中有 {count} 个失败：{reason}",
    "{count} of {all} blocks invalid: {reason}": "{all} 个区组中有 {count} 个无效：{reason}",
    "{reason} (and {more} more reasons, in cells.csv)": "{reason}（另有 {more} 种原因，见 cells.csv）",
    "{reason}; {more} more reasons in cells.csv": "{reason}；另有 {more} 种原因，见 cells.csv",
    # parameters (core/cell.py)
    "service processes": "服务进程数",
    "worker threads per service": "每个服务的工作线程数",
    "client processes (as many as services, if not given)": "客户端进程数（未给出时与服务数相同）",
    "requests from each client to each service": "每个客户端向每个服务发送的请求数",
    "threads per client": "每个客户端的线程数",
    "CPU load of one request: how far it counts": "一个请求的 CPU 负载：计数到多少",
    "listening sockets per service": "每个服务监听的 socket 数",
    "connections that a service caches; none = no limit": "服务缓存的连接数；none 表示不限",
    "reuse a connection (true) or open one per request (false)": "复用连接（true）或每个请求新建连接（false）",
    "one selector for all connections, or each connection asked on its own": "对所有连接用一个 select，或逐个连接查询",
    "which of a service's sockets a client uses": "客户端使用服务的哪个 socket",
    "how a service waits for its connections": "服务如何等待其连接",
    "Unix sockets or TCP on loopback": "Unix socket 或本机 TCP",
    "filler text in each request": "每个请求中的填充文本",
    # notes below a table (reports/words/notes.py)
    "Of {all} measured cells {failures}. No figure includes them.": (
        "{all} 个已测单元中：{failures}。任何数字都不包含它们。"
    ),
    "{count} failed ({reason}) and {other_count} invalid ({other_reason})": (
        "{count} 个失败（{reason}），{other_count} 个无效（{other_reason}）"
    ),
    "{count} failed ({reason})": "{count} 个失败（{reason}）",
    "{count} invalid ({reason})": "{count} 个无效（{reason}）",
    "Cells of the plan that are not measured: {count}. --resume goes on with them.": (
        "计划中尚未测量的单元：{count} 个。--resume 可以继续。"
    ),
    "Runtime {arm} was not found. Install it with: {command}": "没有找到运行时 {arm}。安装命令：{command}",
    "Not measured: system {system} under {arms}: {reason}.": "没有测量：系统 {system} 在 {arms} 下：{reason}。",
    "Not measured: system {system}: {reason}.": "没有测量：系统 {system}：{reason}。",
    "Completion time: what a client took for all of its requests, median and maximum over the clients; medians of "
    "{blocks}. Latency (p50, p99): of all requests of all blocks. CPU: user and system time per request.": (
        "耗时：每个客户端发送完所有请求所用的时间，取各客户端的中位数和最大值，再取 {blocks}的中位数。"
        "延迟（p50、p99）：所有区组的全部请求。CPU：每个请求的用户态与内核态时间。"
    ),
    "{least} to {most} blocks": "{least} 到 {most} 个区组",
    "The number of requests is not the same everywhere: between systems and settings compare requests/s.": (
        "各处的请求数并不相同：在系统和设置之间请比较“请求/秒”。"
    ),
    "Ratio: completion time under {arm} / completion time under the row's runtime. "
    "Above 1 the row is faster than {other_arm}, below 1 slower.": (
        "比值：{arm} 下的耗时 / 该行运行时下的耗时。大于 1 表示该行比 {other_arm} 快，小于 1 表示更慢。"
    ),
    "Ratio: requests/s under the row's runtime / requests/s under {arm}. "
    "Above 1 the row is faster than {other_arm}, below 1 slower.": (
        "比值：该行运行时下的请求/秒 / {arm} 下的请求/秒。大于 1 表示该行比 {other_arm} 快，小于 1 表示更慢。"
    ),
    "Method: {rest}.": "方法：{rest}。",
    "a warm-up of {share} of the requests, {rest}": "以 {share} 的请求预热，{rest}",
    "a warm-up of {seconds} s, {rest}": "预热 {seconds} 秒，{rest}",
    "each cell timed for {seconds} s, {rest}": "每个单元计时 {seconds} 秒，{rest}",
    "services on CPU {cpus}, {rest}": "服务端在 CPU {cpus} 上，{rest}",
    "clients on CPU {cpus}, {rest}": "客户端在 CPU {cpus} 上，{rest}",
    "clients run under the service's runtime": "客户端与服务端使用同一运行时",
    "clients run under {arm} everywhere: only the service changes": "客户端都运行在 {arm} 下：只有服务端变化",
    "The builds differ, and a ratio between them cannot tell these causes apart: {rest}.": (
        "各构建有所不同，比值无法区分这些原因：{rest}。"
    ),
    "version {builds}": "版本 {builds}",
    "compiler {builds}": "编译器 {builds}",
    "PGO {builds}": "PGO {builds}",
    "LTO {builds}": "LTO {builds}",
    "shared library {builds}": "共享库 {builds}",
    "debug {builds}": "调试 {builds}",
    "tail calls {builds}": "尾调用 {builds}",
    "JIT {builds}": "JIT {builds}",
    # the terminal (reports/findings/findings.py, reports/terminal/tables.py, commands/report.py)
    "Bars: requests/s.": "条形：请求/秒。",
    "Bars: median completion time; shorter is faster.": "条形：耗时中位数；越短越快。",
    "What changed, and what it is due to": "有什么变化，原因何在",
    "step": "步骤",
    "ratio [95 %]": "比值 [95 %]",
    "verdict": "结论",
    "whole": "全程",
    "other": "混合",
    "faster": "更快",
    "slower": "更慢",
    "equivalent": "等效",
    "inconclusive": "尚无定论",
    "{count} more comparisons are in findings.md.": "另有 {count} 项比较在 findings.md 中。",
    "all": "全部",
    "Saved in {path}:": "已保存在 {path}：",
    "Made again by: {command}": "重新生成：{command}",
    "The page: {path}": "网页：{path}",
    "All of them side by side: {path}": "全部并列：{path}",
    # the list of runs (reports/terminal/listing.py)
    "when": "时间",
    "plan": "计划",
    "blocks": "区组",
    "cells ok": "正常单元",
    "not ok": "不正常",
    "run": "运行",
    "no comparison is saved": "没有保存的比较",
    "no comparison is possible": "无可比较",
    # what differs between runs (reports/compare/comparable.py)
    "the CPU": "CPU",
    "the number of cores": "核心数",
    "the number of usable cores": "可用核心数",
    "the cores' worth of time granted": "可用的核心时间配额",
    "the warm-up": "预热",
    "the duration in seconds": "计时长度（秒）",
    "the clients' runtime": "客户端的运行时",
    "the services' CPUs": "服务端所用的 CPU",
    "the clients' CPUs": "客户端所用的 CPU",
    "The operating system": "操作系统",
    "The kernel": "内核",
    "The frequency governor": "调频策略",
    "The commit of gilscope": "gilscope 的提交",
}
