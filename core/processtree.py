"""Read the resource usage of a process and all its descendants from /proc (Linux).

Source: proc_pid_stat(5), proc_pid_status(5), proc_pid_smaps(5).

Children measure themselves with it (core/child.py), and lab/ and native hosts other processes. A
process or file that is not there, also because the process has just ended, counts as 0 and raises
no error; but tree() and descendants() raise FileNotFoundError where there is no /proc.
"""

import os
from collections.abc import Iterable, Iterator, Mapping

PROC = "/proc"


# keys whose values only grow, so that the difference of two readings is the use in between
GROWING = (
    "cpu_user_ns",
    "cpu_system_ns",
    "voluntary_switches",
    "involuntary_switches",
    "run_queue_ns",
)


def usage_of(pids: Iterable[int]) -> dict[str, int]:
    """Return the total resource usage of the processes *pids*; processes that have ended are
    skipped.

    processes: number of processes that run
    cpu_*_ns: CPU time, in kernel ticks (usually 10 ms), with children that have ended and were
        waited for
    *_switches: context switches of the running threads
    run_queue_ns: how long the running threads were ready without a core
    max_rss_bytes: the sum of the processes' peaks, which may have occurred at different times
    pss_bytes: proportional set size: a page that n processes share counts as 1/n; 0 if the kernel
        reports none
    """
    total = dict.fromkeys(("processes", *GROWING, "max_rss_bytes", "pss_bytes"), 0)
    for pid in pids:
        for name, value in _usage(pid).items():
            total[name] += value
    return total


def usage_since(start: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Return the growth of CPU time, switches and run-queue time from *start* to *now*, and the
    memory of *now*.

    Differences are never negative, although a process that has ended would lower the sums.
    """
    return {**now, **{name: max(0, now[name] - start[name]) for name in GROWING}}


def run_queue_ns(process: int | str = "self") -> int:
    """Return how long the threads of *process* have been ready to run without a core, in ns; 0 if
    it is not known.

    process: "self", or the id of another process
    """
    return sum(ran_and_waited_ns(f"{process}/task/{thread}")[1] for thread in threads_of(process))


def peak_memory_bytes(pid: int | str) -> int:
    """Return the largest resident set size (VmHWM) of *pid* (or "self") in bytes; 0 if /proc has
    none.
    """
    return _numbers(f"{PROC}/{pid}/status").get("VmHWM", 0) * 1024


def proportional_memory_bytes(pid: int | str) -> int:
    """Return the present proportional set size of *pid* in bytes; 0 if /proc has none."""
    return _numbers(f"{PROC}/{pid}/smaps_rollup").get("Pss", 0) * 1024


def threads_ran_ns(pid: int) -> dict[int, int]:
    """Return the CPU time in ns of each thread of *pid* and its descendants, by thread id; {} if it
    is not known.

    This function reads far less of /proc than tree() does. Source: Linux,
    Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat: the first number;
        proc_pid_task(5), children.
    """
    return {thread: ran_ns for _, ran in _threads_by_process(pid) for thread, ran_ns in ran.items()}


def tree_ran_ns(pid: int) -> int:
    """Return the CPU time in ns of *pid* and its descendants, including descendants that have
    ended.

    Of threads that run it is exact. What has ended counts in ticks: proc_pid_stat(5), utime to
    cstime.
    """
    total_ns = 0
    for process, ran in _threads_by_process(pid):
        if fields := _stat(process):
            user_ns, system_ns, *waited_ns = _cpu_ns(fields)
            total_ns += max(sum(ran.values()), user_ns + system_ns) + sum(waited_ns)
    return total_ns


def _cpu_ns(fields: list[str]) -> list[int]:
    """Return utime, stime, cutime and cstime from the fields that _stat() returns, in ns."""
    # fields 14 to 17 of proc_pid_stat(5)
    return [int(ticks) * 10**9 // os.sysconf("SC_CLK_TCK") for ticks in fields[11:15]]


def _threads_by_process(pid: int) -> Iterator[tuple[int, dict[int, int]]]:
    """Yield *pid* and each of its descendants, with the CPU time in ns of its threads by thread
    id.
    """
    pids = [pid]
    # pids grows while it is read
    for process in pids:
        ran = {}
        for thread in threads_of(process):
            ran[int(thread)], _ = ran_and_waited_ns(f"{process}/task/{thread}")
            pids += map(int, _text(f"{PROC}/{process}/task/{thread}/children").split())
        yield process, ran


def ran_and_waited_ns(thread: str) -> tuple[int, int]:
    """Return how long a thread ran on a CPU core, and how long it was ready without one, in ns; 0
    if unknown.

    thread: a folder of /proc, such as 812/task/813
    Source: Linux, Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat.
    """
    ran_ns, waited_ns, *_ = _text(f"{PROC}/{thread}/schedstat").split() or (0, 0)
    return int(ran_ns), int(waited_ns)


def descendants(pid: int) -> list[int]:
    """Return the ids of all running descendants of *pid*."""
    return [process for process in tree(pid) if process != pid]


def tree(pid: int) -> list[int]:
    """Return the ids of the running processes among *pid* and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdecimal, os.listdir(PROC)):
        if fields := _stat(int(name)):
            children.setdefault(int(fields[1]), []).append(int(name))
    processes = [pid] if _stat(pid) else []
    # processes grows while it is read
    for process in processes:
        processes += children.get(process, [])
    return processes


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat from the third, the state, on; empty if the process
    has ended.
    """
    text = _text(f"{PROC}/{pid}/stat")
    fields = text.rpartition(")")[
        2
    ].split()  # the process name before ")" may contain spaces and brackets
    return [] if not fields or fields[0] in "ZX" else fields  # zombie or dead


def _usage(pid: int) -> dict[str, int]:
    """Return the resource usage of a process, with the names that usage_of() explains; {} if it has
    ended.
    """
    fields = _stat(pid)
    if not fields:
        return {}
    user_ns, system_ns, waited_user_ns, waited_system_ns = _cpu_ns(fields)
    threads = [_numbers(f"{PROC}/{pid}/task/{thread}/status") for thread in threads_of(pid)]
    return {
        "processes": 1,
        "cpu_user_ns": user_ns + waited_user_ns,
        "cpu_system_ns": system_ns + waited_system_ns,
        "voluntary_switches": sum(thread.get("voluntary_ctxt_switches", 0) for thread in threads),
        "involuntary_switches": sum(
            thread.get("nonvoluntary_ctxt_switches", 0) for thread in threads
        ),
        "run_queue_ns": run_queue_ns(pid),
        "max_rss_bytes": peak_memory_bytes(pid),
        "pss_bytes": proportional_memory_bytes(pid),
    }


def _numbers(path: str) -> dict[str, int]:
    """Parse the lines `name: number ...` of a file."""
    numbers = {}
    for line in _text(path).splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdecimal():
            numbers[name] = int(words[0])
    return numbers


def threads_of(pid: int | str) -> list[str]:
    """Return the ids of the threads of *pid*; empty if the process has ended."""
    try:
        return os.listdir(f"{PROC}/{pid}/task")
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
