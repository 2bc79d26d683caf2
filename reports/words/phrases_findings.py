"""Chinese for what a report says of topology, memory, scaling, fairness, the limit and profiles. As in phrases.py."""

from collections.abc import Mapping

FINDINGS_ZH: Mapping[str, str] = {
    # topology (reports/findings/topology.py, reports/findings/claims.py)
    "{sentence} (another version: this is version and lock together); not measured in the same blocks: {places}": (
        "{sentence}（版本不同：这是版本与锁的共同效果）；没有在同一区组中测量：{places}"
    ),
    "{sentence}; not measured in the same blocks: {places}": "{sentence}；没有在同一区组中测量：{places}",
    "{sentence} (another version: this is version and lock together)": "{sentence}（版本不同：这是版本与锁的共同效果）",
    "{threaded} serves {over_one} what {one} does and {over_many} what {many} do, with {memory} their memory": (
        "{threaded}的吞吐量是{one}的 {over_one} 倍、{many}的 {over_many} 倍，内存是后者的 {memory} 倍"
    ),
    "{threaded} serves {over_one} what {one} does and {over_many} what {many} do": (
        "{threaded}的吞吐量是{one}的 {over_one} 倍、{many}的 {over_many} 倍"
    ),
    "{shape} on {arm} serves {over_many} what {other_shape} on {other_arm} does, with {memory} the memory": (
        "{arm} 上的 {shape} 吞吐量是 {other_arm} 上 {other_shape} 的 {over_many} 倍，内存是其 {memory} 倍"
    ),
    "{shape} on {arm} serves {over_many} what {other_shape} on {other_arm} does": (
        "{arm} 上的 {shape} 吞吐量是 {other_arm} 上 {other_shape} 的 {over_many} 倍"
    ),
    "{threaded} serves {over_many} what {many} do, with {memory} their memory": (
        "{threaded}的吞吐量是{many}的 {over_many} 倍，内存是其 {memory} 倍"
    ),
    "{threaded} serves {over_many} what {many} do": "{threaded}的吞吐量是{many}的 {over_many} 倍",
    "{threaded} serves {over_one} what {one} does": "{threaded}的吞吐量是{one}的 {over_one} 倍",
    "{shape} on {arm} and {other_shape} on {other_arm} were not measured in the same blocks, so they are not "
    "compared": "{arm} 上的 {shape} 与 {other_arm} 上的 {other_shape} 没有在同一区组中测量，因此不作比较",
    "{threaded} was not measured, so there is nothing to compare": "{threaded}没有测量，因此无从比较",
    "{threaded} overtakes {many} between CALC_TARGET {low} and {high}": (
        "{threaded}在 CALC_TARGET {low} 与 {high} 之间超过{many}"
    ),
    "{threaded} never overtakes {many} within the sweep; at best it serves {times} x as much, at CALC_TARGET {load}": (
        "{threaded}在扫描范围内始终没有超过{many}；最好时（CALC_TARGET {load}）为其 {times} 倍"
    ),
    "{threaded} is not shown to overtake {many} within the sweep; at best it serves {times} x as much, at CALC_TARGET "
    "{load}": "没有证据表明{threaded}在扫描范围内超过{many}；最好时（CALC_TARGET {load}）为其 {times} 倍",
    "{threaded} serves more than {many} at every CALC_TARGET of the sweep, {low} to {high}": (
        "{threaded}在扫描的每个 CALC_TARGET（{low} 到 {high}）都超过{many}"
    ),
    "{threaded} serves more than {many} at CALC_TARGET {ahead} of {swept}": (
        "在扫描的 CALC_TARGET（{swept}）中，{threaded}在 {ahead} 处超过{many}"
    ),
    "{threaded} cannot be told to overtake {many} or not from fewer than {count} blocks": (
        "少于 {count} 个区组，无法判断{threaded}是否超过{many}"
    ),
    "{count} clients keep no more than {other_count} requests under way at one process, fewer than it could serve at "
    "once: the figures of {shape} are a lower bound. Raise NUM_CLIENTS": (
        "{count} 个客户端在一个进程上最多同时有 {other_count} 个请求，少于它能同时处理的数目：{shape} 的数字只是下限。"
        "请提高 NUM_CLIENTS"
    ),
    "Processes and threads are not compared: that takes a free-threaded runtime and one of the default build, such as "
    "3.14t and 3.14; measured are {arms}": (
        "没有比较进程与线程：这需要一个自由线程运行时和一个默认构建，例如 3.14t 和 3.14；测量了的是 {arms}"
    ),
    "1 process of {threads} threads on {arm}": "{arm} 上 1 个 {threads} 线程的进程",
    "1 process on {arm}": "{arm} 上的 1 个进程",
    "{count} processes of {threads} threads on {arm}": "{arm} 上 {count} 个 {threads} 线程的进程",
    "{count} processes on {arm}": "{arm} 上的 {count} 个进程",
    "{value} x ({low} to {high})": "{value}（{low} 到 {high}）",
    "{value} x": "{value}",
    # memory (reports/findings/memory.py)
    "{who} {low} at {few} and {high} at {many}: no growth can be told ({span} for each further client)": (
        "{who}在 {few} 时占用 {low}，在 {many} 时占用 {high}：看不出增长（每多一个客户端 {span}）"
    ),
    "{who} {low} at {few} and {high} at {many}: {slope} for each further client": (
        "{who}在 {few} 时占用 {low}，在 {many} 时占用 {high}：每多一个客户端增加 {slope}"
    ),
    "a client takes {slope}": "一个客户端占用 {slope}",
    "the service takes": "服务端",
    "the {count} services together take": "{count} 个服务端共",
    # scaling (reports/findings/scaling.py, reports/statistics/scaling.py)
    "1 {unit} serves {rate} requests/s": "1 个{unit}每秒处理 {rate} 个请求",
    "worker": "工作线程",
    "client": "客户端",
    "socket": " socket ",
    "contention sigma {sigma}, coherency kappa {kappa}: {peak}": (
        "争用系数 sigma {sigma}，一致性系数 kappa {kappa}：{peak}"
    ),
    "throughput falls from 1 on": "吞吐量从 1 起就下降",
    "no peak is claimed, the interval of kappa includes 0": "不断言峰值，kappa 的区间包含 0",
    "no peak is claimed, the interval of kappa lies below 0": "不断言峰值，kappa 的区间低于 0",
    "most throughput at {peak}, beyond the sweep, which ends at {most}": (
        "吞吐量在 {peak} 处最大，超出扫描范围（止于 {most}）"
    ),
    "most throughput at {peak}": "吞吐量在 {peak} 处最大",
    "by Amdahl's law {serial} of the work is serial, no limit is claimed": (
        "按 Amdahl 定律，{serial} 的工作是串行的，不断言上限"
    ),
    "by Amdahl's law {serial} of the work is serial, so that no number serves more than {peak} x as much as 1": (
        "按 Amdahl 定律，{serial} 的工作是串行的，因此无论多少都不会超过 1 个的 {peak} 倍"
    ),
    "no fit, because some were timed for {seconds} s only; --duration 1 is enough": (
        "没有拟合，因为有些单元只计时了 {seconds} 秒；--duration 1 就够"
    ),
    "no fit of the Universal Scalability Law: {why}": "无法拟合通用扩展定律（USL）：{why}",
    "no fit of Amdahl's law: {why}": "无法拟合 Amdahl 定律：{why}",
    "no fit of either law: {why}": "两条定律都无法拟合：{why}",
    "the throughput of one is not to be told from these values under this law": (
        "按这条定律无法由这些取值得出 1 个的吞吐量"
    ),
    "sweep from 1, or from near it (and where throughput falls at the high end, only the Universal Scalability Law "
    "can fit)": "请从 1 或接近 1 处开始扫描（若吞吐量在高端下降，则只有 USL 能拟合）",
    "{parameter} has {count} values: a scaling fit takes at least {least}": (
        "{parameter} 只有 {count} 个取值：扩展性拟合至少需要 {least} 个"
    ),
    # fairness (reports/findings/fairness.py)
    "Requests are shared unevenly among {among} in {count} of {all} rows (Jain index below {limit}), "
    "least evenly in {about}: {jain}, as if {some} of {sharers} had all of them": (
        "{all} 行中有 {count} 行的请求在{among}之间分配不均（Jain 指数低于 {limit}），最不均匀的是 {about}："
        "{jain}，相当于 {sharers} 个中只有 {some} 个承担了全部请求"
    ),
    "Requests are shared unevenly among {among} (Jain index below {limit}), in {about}: {jain}, as if {some} of "
    "{sharers} had all of them": (
        "请求在{among}之间分配不均（Jain 指数低于 {limit}），{about}：{jain}，"
        "相当于 {sharers} 个中只有 {some} 个承担了全部请求"
    ),
    "workers": "工作线程",
    "connections": "连接",
    "sockets": " socket ",
    # the machine's limit (reports/findings/limit.py)
    "System {system} on {arm}, called by {clients}, reaches {interval} of the machine's limit at {setting}": (
        "系统 {system} 在 {arm} 上由{clients}调用，达到本机极限的 {interval}（{setting}）"
    ),
    "System {system} on {arm}, called by {clients}, reaches {interval} of the machine's limit": (
        "系统 {system} 在 {arm} 上由{clients}调用，达到本机极限的 {interval}"
    ),
    "Python clients": " Python 客户端",
    "the native client": "原生客户端",
    "The machine's limit is the same protocol and the same count in Rust, called by the native load generator. "
    "Python clients take CPU time from the service: with --client-runtime native every service is called by that "
    "generator, and the share is the service's alone.": (
        "本机极限是用 Rust 写的同一协议、同样的计数，由原生负载发生器调用。Python 客户端会占用服务的 CPU 时间："
        "加上 --client-runtime native，所有服务都由该发生器调用，所占比例只取决于服务本身。"
    ),
    # profiles (lab/profile/hotspots.py, reports/findings/findings.py)
    "perf, system {system} on {arm}: {sentence}": "perf，系统 {system}，{arm}：{sentence}",
    "the hottest function is {name} ({share} of CPU time)": "最热的函数是 {name}（占 CPU 时间的 {share}）",
    "the hottest lock is {lock} ({module}: {share} of CPU time, {floor} of context switches)": (
        "最热的锁是 {lock}（{module}：占 CPU 时间的 {share}、上下文切换的 {floor}）"
    ),
    "the hottest lock is {lock} ({module}: {share} of CPU time)": (
        "最热的锁是 {lock}（{module}：占 CPU 时间的 {share}）"
    ),
    "no lock takes {share}": "没有一个锁达到 {share}",
    "from {count} samples ({share} were lost), none of them in the kernel, which perf may not look into here": (
        "共 {count} 个样本（丢失 {share}），都不在内核中：perf 在这里不能查看内核"
    ),
    "from {count} samples, none of them in the kernel, which perf may not look into here": (
        "共 {count} 个样本，都不在内核中：perf 在这里不能查看内核"
    ),
    "from {count} samples ({share} were lost)": "共 {count} 个样本（丢失 {share}）",
    "from {count} samples": "共 {count} 个样本",
    "not profiled: {reason}": "没有剖析：{reason}",
}
