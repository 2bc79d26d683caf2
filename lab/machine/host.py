"""What this machine is, as far as it matters to a measurement, and the room it gives for open files."""

import os
import platform
import resource
from subprocess import TimeoutExpired
from typing import Any

from core.errors import BadInput
from lab.machine.kernelfiles import Reader
from lab.processes import run

GOVERNORS = "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"
UNLIMITED = "unlimited"
_LIMITS = {"nofile": resource.RLIMIT_NOFILE, "nproc": resource.RLIMIT_NPROC, "memlock": resource.RLIMIT_MEMLOCK}


def facts() -> dict[str, Any]:
    """Facts of the machine and of the orchestrator, None if unknown; no host name, for results are meant to be shown.

    cores: logical processors; cores_usable: those this process may run on;
    cores_quota: processors' worth of time that the control group grants, if it limits it
    load: processes that ran or waited, mean over 1, 5 and 15 minutes; limits: soft and hard, or 'unlimited'
    """
    return {
        "cpu": _cpu(),
        "architecture": platform.machine() or None,
        "cores": os.cpu_count(),
        "cores_usable": len(usable_cpus()),
        "cores_quota": _cores_quota(),
        "governor": _governor(),
        "memory_bytes": _memory_bytes(),
        "os": _os_name(),
        "kernel": f"{platform.system()} {platform.release()}",
        "load": _load(),
        "limits": _limits(),
        "python": platform.python_version(),
    }


def boot_id() -> str:
    """The same for all that runs on one machine until it starts again; "" where nobody says."""
    return _text("/proc/sys/kernel/random/boot_id").strip()


def raise_open_files(needed: int) -> None:
    """Let this process, and those it starts, have *needed* files open at once.

    Raises BadInput with both numbers when the hard limit is lower.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _allows(soft, needed):
        return
    if not _allows(hard, needed):
        raise _too_many_files(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    except (OSError, ValueError):
        # macOS lets kern.maxfilesperproc cap what the hard limit seems to allow.
        raise _too_many_files(needed, soft) from None


def _allows(limit: int, needed: int) -> bool:
    return limit == resource.RLIM_INFINITY or limit >= needed


def _too_many_files(needed: int, limit: int) -> BadInput:
    return BadInput(
        "This plan needs {needed} open files in one process; the limit here is {limit}. "
        "Lower NUM_CLIENTS, NUM_API_SERVICES or NUM_MULTI_SOCKET, or raise the limit as root: ulimit -Hn {needed}",
        needed=needed,
        limit=limit,
    )


def _cpu() -> str | None:
    for line in _text("proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip().lower() in ("model name", "cpu model"):
            return value.strip()
    return _sysctl("machdep.cpu.brand_string") or platform.processor() or None


def usable_cpus() -> frozenset[int]:
    """Return the CPUs that this process may run on."""
    affinity = getattr(os, "sched_getaffinity", None)
    return frozenset(affinity(0) if affinity else range(os.cpu_count() or 1))


def _cores_quota() -> float | None:
    """Source: docs.kernel.org, cgroup-v2, cpu.max: "$MAX $PERIOD" in us, or "max"."""
    granted, _, period = _text("sys/fs/cgroup/cpu.max").partition(" ")
    return int(granted) / int(period) if granted.isdigit() and period.isdigit() else None


def _governor() -> str | None:
    """The frequency governors in use, all of them if the processors differ."""
    return ", ".join(sorted(set(Reader().matching(GOVERNORS)))) or None


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        size = _sysctl("hw.memsize")
        return int(size) if size else None


def _os_name() -> str | None:
    if platform.system() == "Darwin":
        return f"macOS {platform.mac_ver()[0]}"
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _load() -> list[float] | None:
    try:
        return [round(value, 2) for value in os.getloadavg()]
    except OSError:
        return None


def _limits() -> dict[str, int | str]:
    limits: dict[str, int | str] = {}
    for name, kind in _LIMITS.items():
        for side, value in zip(("soft", "hard"), resource.getrlimit(kind), strict=True):
            limits[f"{name}_{side}"] = UNLIMITED if value == resource.RLIM_INFINITY else value
    return limits


def _text(path: str) -> str:
    return Reader().text(path) or ""


def _sysctl(name: str) -> str | None:
    if platform.system() != "Darwin":
        return None
    try:
        done = run(["sysctl", "-n", name], 5.0)
    except (OSError, TimeoutExpired):
        return None
    return done.stdout.strip() or None
