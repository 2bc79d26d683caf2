"""Read facts about this machine that matter to a measurement: CPU, memory, kernel, quotas and
limits.

For a missing or malformed file in /proc or /sys, a fact is None.
On other hosts, the agent and the worker (lab/hosts) import this module, so it needs the standard
library and gilscope alone.
The keys of facts() are fields of record/saved_plan.py:MachineFacts, and a part of result.json.
"""

import os
import platform
import resource
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from core.messages import BadInput

Value = TypeVar("Value")
# the value of a limit or quota that is not set; only cores_quota of facts() is None then
UNLIMITED = "unlimited"
# where control groups are mounted, below ROOT
_CGROUPS = "sys/fs/cgroup"
# resource limits of this process, by their keys in facts()["limits"]
_LIMITS = {"nofile_soft": resource.RLIMIT_NOFILE, "nproc_soft": resource.RLIMIT_NPROC}


# the root of /proc and /sys, which tests replace
ROOT = Path("/")


def at(path: str | Path) -> Path:
    """Return the path of a file below ROOT."""
    return ROOT / path


def text_of(path: str | Path) -> str | None:
    """Return the content of a file, without leading and trailing white space; None if it cannot be
    read.
    """
    return _known(lambda: at(path).read_text(errors="replace").strip())


def number_of(path: str) -> int | None:
    """Return the integer that a file contains; None if it contains none."""
    return number(text_of(path))


def table_of(path: str) -> dict[str, str]:
    """Parse a file with lines `name value ...` or `name: value ...` into a dict, which is empty if
    the file cannot be read.
    """
    lines = (line.replace("\t", " ").partition(" ") for line in (text_of(path) or "").splitlines())
    return {name.rstrip(":"): value.strip() for name, _, value in lines}


def texts_of(pattern: str) -> list[str]:
    """Return the contents of all readable files that match a glob pattern, sorted by file name."""
    return [*filter(None, map(text_of, sorted(ROOT.glob(pattern))))]


def number(text: str | None) -> int | None:
    """Parse *text* as an integer; return None if it is not an integer."""
    return _known(lambda: int(text or ""))


def facts() -> dict[str, Any]:
    """Return facts about the machine and the orchestrator process. An unknown fact is None.

    There is no host name among the facts because results are meant to be shared.
    cores: logical CPUs; cores_usable: CPUs that this process may run on
    cores_quota: CPU time in cores that our control group and the groups above it permit; None if
        unlimited, too
    load: processes that ran or waited, means over 1, 5 and 15 minutes; limits: a number, or
        'unlimited'
    """
    quota, unlimited = cores_quota(), {resource.RLIM_INFINITY: UNLIMITED}
    limits: dict[str, Any] = {name: resource.getrlimit(kind)[0] for name, kind in _LIMITS.items()}
    lines = (line.partition(":") for line in (text_of("proc/cpuinfo") or "").splitlines())
    cpu = {name.strip().lower(): value.strip() for name, _, value in lines}  # of the last CPU
    return {
        "cpu": cpu.get("model name") or cpu.get("cpu model") or platform.processor() or None,
        "architecture": platform.machine() or None,
        "cores": os.cpu_count(),
        "cores_usable": len(usable_cpus()),
        "cores_quota": None if quota == UNLIMITED else quota,
        "governor": ", ".join(governors()) or None,
        "memory_bytes": _known(lambda: os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")),
        "os": _known(lambda: platform.freedesktop_os_release()["PRETTY_NAME"]),
        "kernel": f"{platform.system()} {platform.release()}",
        "load": _known(lambda: [round(value, 2) for value in os.getloadavg()]),
        "limits": {name: unlimited.get(limit, limit) for name, limit in limits.items()},
        "python": platform.python_version(),
    }


def governors() -> list[str]:
    """Return the names of the CPU frequency governors in use, more than one if the CPUs differ."""
    return sorted(set(texts_of("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")))


def raise_open_files(needed: int) -> None:
    """Raise the limit on open files to *needed*, for this process and its child processes.

    Raises BadInput with both numbers if the hard limit is lower.
    """
    limit, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if needed <= limit or limit == resource.RLIM_INFINITY:
        return
    if needed <= hard or hard == resource.RLIM_INFINITY:
        # On macOS, kern.maxfilesperproc may be lower than the hard limit.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
            return
    else:
        limit = hard
    raise BadInput(
        "This plan needs {needed} open files in one process, but the limit is {limit}. Lower "
        "NUM_CLIENTS, NUM_API_SERVICES or NUM_MULTI_SOCKET, or raise the limit as root: ulimit -Hn "
        "{needed}",
        needed=needed,
        limit=limit,
    )


def usable_cpus() -> frozenset[int]:
    """Return the CPUs that this process may run on."""
    affinity = getattr(os, "sched_getaffinity", None)
    return frozenset(affinity(0) if affinity else range(os.cpu_count() or 1))


def cores_quota() -> float | str | None:
    """Return the CPU quota of this process in cores: the smallest of its control group and the
    parent groups.

    It is UNLIMITED if no group has a quota, and None if the quota is unknown.
    Source: docs.kernel.org, cgroup v2: cpu.max is "$MAX $PERIOD" in us, or "max"; v1:
        cpu.cfs_quota_us, -1 for none.
    """
    folders, quotas = control_groups("cpu", "cpu.stat"), []
    for folder in folders:
        granted, _, period = (text_of(f"{folder}/cpu.max") or "").partition(" ")
        granted_us = number(granted) or number_of(f"{folder}/cpu.cfs_quota_us")
        period_us = number(period) or number_of(f"{folder}/cpu.cfs_period_us")
        if granted_us and period_us and granted_us > 0:
            quotas.append(granted_us / period_us)
    return min(quotas, default=UNLIMITED) if folders else None


def quota_stalled_ns(groups: Iterable[str]) -> int | None:
    """Return how long CPU quotas have throttled threads in this process's control group and its
    parent groups, in ns.

    groups: control groups below ours, which count too
    Source: docs.kernel.org; cpu.stat has throttled_usec in cgroup v2, throttled_time in ns in v1.
    """
    counts = []
    for folder in (*control_groups("cpu", "cpu.stat"), *groups):
        table = table_of(f"{folder}/cpu.stat")
        count_us = number(table.get("throttled_usec"))
        counts.append(number(table.get("throttled_time")) if count_us is None else count_us * 1000)
    return total(counts)


def control_groups(controller: str, file: str) -> list[str]:
    """Return the folders of this process's control group and its parent groups for *controller*,
    innermost first.

    file: a folder counts if it has this file
    In a container, the path of our group may exist only on the host. Then the root of the mount
    stands for our group.
    """
    for line in (text_of("proc/self/cgroup") or "").splitlines():
        controllers, _, path = line.partition(":")[2].partition(":")
        mounts = [_CGROUPS]  # of cgroup v2
        if controllers:
            named = controller in controllers.split(",")
            mounts = [f"{_CGROUPS}/{controller}", f"{_CGROUPS}/{controllers}"] if named else []
        own = PurePosixPath("/", path)
        for mount in mounts:
            folders = [f"{mount}{group}" for group in (own, *own.parents)]
            if known := [folder for folder in folders if at(f"{folder}/{file}").exists()]:
                return known
    return []


def memory_available_bytes() -> int | None:
    """Return the bytes of memory available to new processes, within the limits of this process's
    control groups.

    None if neither /proc nor a control group says it.
    Source: proc_meminfo(5), MemAvailable; docs.kernel.org, cgroup v2: memory.max and
        memory.current; v1: memory.limit_in_bytes and memory.usage_in_bytes.
    """
    kib = number(table_of("proc/meminfo").get("MemAvailable", "").partition(" ")[0])
    rooms = [] if kib is None else [kib * 1024]
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        for folder in control_groups("memory", used):
            limit, now = number_of(f"{folder}/{most}"), number_of(f"{folder}/{used}")
            if limit is not None and now is not None:
                rooms.append(max(0, limit - now))
    return min(rooms, default=None)


def _known(read: Callable[[], Value]) -> Value | None:
    """Return what *read* returns; None if this system does not know it."""
    try:
        return read()
    except (ValueError, OSError):
        return None


def total(counts: Iterable[int | None]) -> int | None:
    """Return the sum of the counts that are known; None if no count is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
