"""Read facts about this machine that matter to a measurement: CPU, memory, kernel, quotas and
limits.

For a missing or malformed file in /proc or /sys, a fact is None.
A *reader* reads files below its root, which tests replace. On other hosts, the agent and the worker
(lab/hosts) import this module, so it needs the standard library and gilscope alone.
The keys of facts() are fields of record/saved_plan.py:MachineFacts, and a part of result.json.
"""

import os
import platform
import resource
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from core.messages import BadInput

Value = TypeVar("Value")
# the value of a limit or quota that is not set; only cores_quota of facts() is None then
UNLIMITED = "unlimited"
# where control groups are mounted, below the root of a Reader
_CGROUPS = "sys/fs/cgroup"
# resource limits of this process, by their keys in facts()["limits"]
_LIMITS = {"nofile_soft": resource.RLIMIT_NOFILE, "nproc_soft": resource.RLIMIT_NPROC}


class Reader(NamedTuple):
    """A reader of the files in /proc and /sys below *root*. For an unreadable file, text() and
    number() return None, table() an empty dict, and matching() leaves it out.
    """

    root: Path = Path("/")

    def text(self, path: str | Path) -> str | None:
        """Return the content of a file, without leading and trailing white space.

        path: relative to the root, or absolute and below it
        """
        return _known(lambda: (self.root / path).read_text(errors="replace").strip())

    def number(self, path: str) -> int | None:
        """Return the integer that a file contains."""
        return number(self.text(path))

    def table(self, path: str) -> dict[str, str]:
        """Parse a file with lines `name value ...` or `name: value ...` into a dict."""
        lines = (
            line.replace("\t", " ").partition(" ") for line in (self.text(path) or "").splitlines()
        )
        return {name.rstrip(":"): value.strip() for name, _, value in lines}

    def matching(self, pattern: str) -> list[str]:
        """Return the contents of all files that match a glob pattern, sorted by file name."""
        return [*filter(None, map(self.text, sorted(self.root.glob(pattern))))]

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        return (self.root / path).exists()


# the reader of this machine
HERE = Reader()


def number(text: str | None) -> int | None:
    """Parse *text* as an integer; return None if it is not an integer."""
    return _known(lambda: int(text or ""))


def facts(reader: Reader = HERE) -> dict[str, Any]:
    """Return facts about the machine and the orchestrator process. An unknown fact is None.

    There is no host name among the facts because results are meant to be shared.
    cores: logical CPUs; cores_usable: CPUs that this process may run on
    cores_quota: CPU time in cores that our control group and the groups above it permit; None if
        unlimited, too
    load: processes that ran or waited, means over 1, 5 and 15 minutes; limits: a number, or
        'unlimited'
    """
    quota, unlimited = cores_quota(reader), {resource.RLIM_INFINITY: UNLIMITED}
    limits: dict[str, Any] = {name: resource.getrlimit(kind)[0] for name, kind in _LIMITS.items()}
    lines = (line.partition(":") for line in (reader.text("proc/cpuinfo") or "").splitlines())
    cpu = {name.strip().lower(): value.strip() for name, _, value in lines}  # of the last CPU
    return {
        "cpu": cpu.get("model name") or cpu.get("cpu model") or platform.processor() or None,
        "architecture": platform.machine() or None,
        "cores": os.cpu_count(),
        "cores_usable": len(usable_cpus()),
        "cores_quota": None if quota == UNLIMITED else quota,
        "governor": ", ".join(governors(reader)) or None,
        "memory_bytes": _known(lambda: os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")),
        "os": _known(lambda: platform.freedesktop_os_release()["PRETTY_NAME"]),
        "kernel": f"{platform.system()} {platform.release()}",
        "load": _known(lambda: [round(value, 2) for value in os.getloadavg()]),
        "limits": {name: unlimited.get(limit, limit) for name, limit in limits.items()},
        "python": platform.python_version(),
    }


def governors(reader: Reader) -> list[str]:
    """Return the names of the CPU frequency governors in use, more than one if the CPUs differ."""
    return sorted(set(reader.matching("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")))


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


def cores_quota(reader: Reader) -> float | str | None:
    """Return the CPU quota of this process in cores: the smallest of its control group and the
    parent groups.

    It is UNLIMITED if no group has a quota, and None if the quota is unknown.
    Source: docs.kernel.org, cgroup v2: cpu.max is "$MAX $PERIOD" in us, or "max"; v1:
        cpu.cfs_quota_us, -1 for none.
    """
    folders, quotas = control_groups(reader, "cpu", "cpu.stat"), []
    for folder in folders:
        granted, _, period = (reader.text(f"{folder}/cpu.max") or "").partition(" ")
        granted_us = number(granted) or reader.number(f"{folder}/cpu.cfs_quota_us")
        period_us = number(period) or reader.number(f"{folder}/cpu.cfs_period_us")
        if granted_us and period_us and granted_us > 0:
            quotas.append(granted_us / period_us)
    return min(quotas, default=UNLIMITED) if folders else None


def quota_stalled_ns(reader: Reader, groups: Iterable[Path] = ()) -> int | None:
    """Return how long CPU quotas have throttled threads in this process's control group and its
    parent groups, in ns.

    groups: control groups below ours, which count too
    Source: docs.kernel.org; cpu.stat has throttled_usec in cgroup v2, throttled_time in ns in v1.
    """
    counts = []
    for folder in (*control_groups(reader, "cpu", "cpu.stat"), *map(str, groups)):
        table = reader.table(f"{folder}/cpu.stat")
        count_us = number(table.get("throttled_usec"))
        counts.append(number(table.get("throttled_time")) if count_us is None else count_us * 1000)
    return total(counts)


def control_groups(reader: Reader, controller: str, file: str) -> list[str]:
    """Return the folders of this process's control group and its parent groups for *controller*,
    innermost first.

    file: a folder counts if it has this file
    In a container, the path of our group may exist only on the host. Then the root of the mount
    stands for our group.
    """
    for line in (reader.text("proc/self/cgroup") or "").splitlines():
        controllers, _, path = line.partition(":")[2].partition(":")
        mounts = [_CGROUPS]  # of cgroup v2
        if controllers:
            named = controller in controllers.split(",")
            mounts = [f"{_CGROUPS}/{controller}", f"{_CGROUPS}/{controllers}"] if named else []
        own = PurePosixPath("/", path)
        for mount in mounts:
            folders = [f"{mount}{group}" for group in (own, *own.parents)]
            if known := [folder for folder in folders if reader.exists(f"{folder}/{file}")]:
                return known
    return []


def memory_available_bytes(reader: Reader = HERE) -> int | None:
    """Return the bytes of memory available to new processes, within the limits of this process's
    control groups.

    None if neither /proc nor a control group says it.
    Source: proc_meminfo(5), MemAvailable; docs.kernel.org, cgroup v2: memory.max and
        memory.current; v1: memory.limit_in_bytes and memory.usage_in_bytes.
    """
    kib = number(reader.table("proc/meminfo").get("MemAvailable", "").partition(" ")[0])
    rooms = [] if kib is None else [kib * 1024]
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        for folder in control_groups(reader, "memory", used):
            limit, now = reader.number(f"{folder}/{most}"), reader.number(f"{folder}/{used}")
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
