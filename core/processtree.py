"""Read the resource usage of a process and all its descendants from /proc (Linux).

Source: proc_pid_stat(5), proc_pid_status(5), proc_pid_smaps(5).
"""

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

PROC = "/proc"


@dataclass(frozen=True, kw_only=True)
class TreeUsage:
    """Resource usage of a process tree: sums over its running processes.

    cpu_*_ns: CPU time, in kernel ticks (usually 10 ms), with children that have ended and were waited for
    *_switches: context switches of the running threads
    max_rss_bytes: the sum of the processes' peaks, which may have occurred at different times
    pss_bytes: proportional set size: a page that n processes share counts as 1/n; 0 if the kernel reports none
    """

    processes: int = 0
    cpu_user_ns: int = 0
    cpu_system_ns: int = 0
    voluntary_switches: int = 0
    involuntary_switches: int = 0
    max_rss_bytes: int = 0
    pss_bytes: int = 0

    def __add__(self, other: "TreeUsage") -> "TreeUsage":
        return TreeUsage(**{name: value + vars(other)[name] for name, value in vars(self).items()})

    def since(self, start: "TreeUsage") -> "TreeUsage":
        """Return CPU time and switches since *start*, and the present memory.

        Differences are never negative, although a process that has ended would lower the sums.
        """
        counted = ("cpu_user_ns", "cpu_system_ns", "voluntary_switches", "involuntary_switches")
        return replace(self, **{name: max(0, getattr(self, name) - getattr(start, name)) for name in counted})

    def to_json(self) -> dict[str, int]:
        """Return the resource usage of the process tree as a dictionary, such as {"processes": 2, ...}."""
        return asdict(self)


def usage_of(pids: Iterable[int]) -> TreeUsage:
    """Return the total usage of the processes *pids*; processes that have ended are skipped."""
    return sum(map(_usage, pids), TreeUsage())


def peak_memory_bytes(pid: int | str) -> int:
    """Return the largest resident set size (VmHWM) of *pid* (or "self") in bytes; 0 if /proc has none."""
    return _numbers(f"{PROC}/{pid}/status").get("VmHWM", 0) * 1024


def proportional_memory_bytes(pid: int | str) -> int:
    """Return the present proportional set size of *pid* in bytes; 0 if /proc has none."""
    return _numbers(f"{PROC}/{pid}/smaps_rollup").get("Pss", 0) * 1024


def threads_ran_ns(pid: int) -> dict[int, int]:
    """Return the CPU time in ns of each thread of *pid* and its descendants, by thread id; {} if it is not known.

    This function reads far less of /proc than tree() does. Source: Linux, Documentation/scheduler/sched-stats.rst,
    /proc/<pid>/schedstat: the first number; proc_pid_task(5), children.
    """
    ran: dict[int, int] = {}
    pids = [pid]
    for process in pids:
        ran |= _threads_ran_ns(process, pids)
    return ran


def tree_ran_ns(pid: int) -> int:
    """Return the CPU time in ns of *pid* and its descendants, including descendants that have ended.

    Of threads that run it is exact. What has ended counts in ticks: proc_pid_stat(5), utime to cstime.
    """
    total_ns = 0
    pids = [pid]
    for process in pids:
        if fields := _stat(process):
            user_ns, system_ns, waited_user_ns, waited_system_ns = _cpu_ns(fields)
            ran_ns = sum(_threads_ran_ns(process, pids).values())
            total_ns += max(ran_ns, user_ns + system_ns) + waited_user_ns + waited_system_ns
    return total_ns


def _cpu_ns(fields: list[str]) -> list[int]:
    """Return utime, stime, cutime and cstime from the fields that _stat() returns, in ns."""
    return [int(ticks) * 10**9 // os.sysconf("SC_CLK_TCK") for ticks in fields[11:15]]


def _threads_ran_ns(pid: int, pids: list[int]) -> dict[int, int]:
    """Return the CPU time in ns of each thread of *pid*, by thread id, and append the children of *pid* to *pids*."""
    ran = {}
    for thread in _threads(pid):
        if words := _text(f"{PROC}/{pid}/task/{thread}/schedstat").split():
            ran[int(thread)] = int(words[0])
        pids += map(int, _text(f"{PROC}/{pid}/task/{thread}/children").split())
    return ran


def descendants(pid: int) -> list[int]:
    """Return the ids of all running descendants of *pid*."""
    return [process for process in tree(pid) if process != pid]


def tree(pid: int) -> list[int]:
    """Return the ids of the running processes among *pid* and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    running = set()
    for name in filter(str.isdecimal, os.listdir(PROC)):
        fields = _stat(int(name))
        if fields:
            running.add(int(name))
            children.setdefault(int(fields[1]), []).append(int(name))
    processes = [pid] if pid in running else []
    for process in processes:
        processes += children.get(process, [])
    return processes


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat that follow the process's name; empty if the process has ended."""
    text = _text(f"{PROC}/{pid}/stat")
    fields = text.rpartition(")")[2].split()  # the process name before ")" may contain spaces and brackets
    return [] if not fields or fields[0] in "ZX" else fields


def _usage(pid: int) -> TreeUsage:
    fields = _stat(pid)
    if not fields:
        return TreeUsage()
    user_ns, system_ns, waited_user_ns, waited_system_ns = _cpu_ns(fields)
    threads = [_numbers(f"{PROC}/{pid}/task/{thread}/status") for thread in _threads(pid)]
    return TreeUsage(
        processes=1,
        cpu_user_ns=user_ns + waited_user_ns,
        cpu_system_ns=system_ns + waited_system_ns,
        voluntary_switches=sum(thread.get("voluntary_ctxt_switches", 0) for thread in threads),
        involuntary_switches=sum(thread.get("nonvoluntary_ctxt_switches", 0) for thread in threads),
        max_rss_bytes=peak_memory_bytes(pid),
        pss_bytes=proportional_memory_bytes(pid),
    )


def _numbers(path: str) -> dict[str, int]:
    """Parse the lines `name: number ...` of a file."""
    numbers = {}
    for line in _text(path).splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdecimal():
            numbers[name] = int(words[0])
    return numbers


def _threads(pid: int) -> list[str]:
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
