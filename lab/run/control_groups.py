"""Limit the CPU time and memory of the services of a cell with control groups. Linux only.

In cgroup v2, a group with limited groups below it must not contain processes, except for the root
group. Outside the root group, gilscope therefore restarts in a scope that systemd delegates to it.
If neither is possible, a limit raises BadInput. commands/running.py and commands/stress.py call
require_limits() before a run. lab/run/cell_processes.py has one service_group() for each cell, and
puts the services into it by the prefix of ServiceGroup.join.
Source: docs.kernel.org, cgroup v2 and v1.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import NamedTuple

from core.messages import NOTHING, BadInput, Message, message
from core.method import Method, size_text
from core.parent import remove_group
from lab.folders import PrivateFolder
from lab.machine.host import at, control_groups, number, table_of, usable_cpus
from lab.processes import describe_exit, run

# A shell script that moves itself (process 0) into each group before `--`, and becomes the command.
JOIN = (
    'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"'
)
RUNNER = "gilscope-runner"  # in a scope, the group of all processes except the services
LONGEST_S = 10.0  # for a short command: the trial of the limits, and that of systemd-run
# missing if the kernel does not count swap
OPTIONAL = ("memory.swap.max", "memory.memsw.limit_in_bytes")
IN_SCOPE = "GILSCOPE_IN_SCOPE"  # the environment variable that is set after the restart in a scope


class ServiceGroup(NamedTuple):
    """The control groups of one cell's services, one per cgroup hierarchy; none if no
    limit is set.

    memory_bytes: the memory limit, for the error; 0 without a limit
    """

    folders: tuple[Path, ...] = ()
    memory_bytes: int = 0

    @property
    def join(self) -> list[str]:
        """Return a command prefix that runs a command in the service's cgroups; empty without
        cgroups.
        """
        return ["/bin/sh", "-c", JOIN, "sh", *map(str, self.folders), "--"] if self.folders else []

    @property
    def exceeded(self) -> Message:
        """Return an error if the kernel killed a process that exceeded the memory limit. Otherwise
        return NOTHING.
        """
        tables = [
            table_of(f"{folder}/{name}")
            for folder in self.folders
            for name in ("memory.events", "memory.oom_control")
        ]
        if not any(number(table.get("oom_kill")) for table in tables):
            return NOTHING
        return message(
            "The service exceeded its memory limit of {limit}.", limit=size_text(self.memory_bytes)
        )


@contextmanager
def service_group(method: Method, private: PrivateFolder, name: str) -> Iterator[ServiceGroup]:
    """Make control groups that limit the CPU use and the memory of a service during the `with`
    block.

    At the end, their processes are killed and the groups are removed.
    method: has the limits
    private: a private folder. Its reaper removes the groups if this process is killed
    Raises BadInput if the kernel refuses.
    """
    limits = {"cpu": method.limit_cpus, "memory": method.limit_memory_bytes}
    folders: dict[Path, None] = {}  # in v2, one folder serves both controllers
    with ExitStack() as made:
        with _refusals():
            for controller in filter(limits.get, limits):
                folder = _parent(controller) / f"{private.folder.name}-{name}"
                # The reaper knows the group before it exists, so that it is never left behind.
                private.remove_at_end(folder)
                made.callback(remove_group, str(folder))
                folder.mkdir(exist_ok=True)
                for file, value in _files(method, controller, is_v2=_is_v2(folder)).items():
                    if file not in OPTIONAL or (folder / file).exists():
                        _write(folder / file, value)
                folders[folder] = None
        yield ServiceGroup(folders=tuple(folders), memory_bytes=method.limit_memory_bytes)


def require_limits(method: Method) -> None:
    """Raise BadInput if the CPU or memory limits of *method* cannot be enforced. A short test
    process checks this.

    If only systemd may make control groups here, restart this program in a scope of systemd.
    """
    if not method.is_limited:
        return
    try:
        with (
            PrivateFolder() as private,
            service_group(method, private, "trial") as group,
            _refusals(),
        ):
            done = run([*group.join, "true"], LONGEST_S)
            if done.returncode:
                raise OSError(
                    errno.EPERM, done.stderr.strip() or str(describe_exit(done.returncode)), "true"
                )
    except BadInput:
        if IN_SCOPE not in os.environ:
            _restart_in_scope()
        raise


def _restart_in_scope() -> None:
    """Restart this program in a scope of systemd. Return only if systemd refuses to make one."""
    user = ["--user"] if os.geteuid() else []
    # Without a description, systemd would write the command line, which may have secrets, to the
    # journal.
    described = ["--quiet", "--collect", "--property=Delegate=yes", "--description=gilscope"]
    words = ["systemd-run", *user, "--scope", *described]
    with suppress(OSError, TimeoutExpired):
        if not run([*words, "true"], LONGEST_S).returncode:
            sys.stdout.flush()
            os.environ[IN_SCOPE] = "1"
            os.execvp(words[0], [*words, sys.executable, *sys.orig_argv[1:]])


def _files(method: Method, controller: str, *, is_v2: bool) -> dict[str, int]:
    """Return the value to write to each file of a control group, by file name."""
    size_bytes = method.limit_memory_bytes
    quota_us = round(method.limit_cpus * 100_000)  # of the default period
    if controller == "memory" and is_v2:
        return {"memory.max": size_bytes, "memory.swap.max": 0}
    if controller == "memory":
        return {"memory.limit_in_bytes": size_bytes, "memory.memsw.limit_in_bytes": size_bytes}
    # In v1 the clients are not in a group, so each core gives the services the weight of one client
    # thread.
    return (
        {"cpu.max": quota_us}
        if is_v2
        else {"cpu.cfs_quota_us": quota_us, "cpu.shares": 1024 * len(usable_cpus())}
    )


def _parent(controller: str) -> Path:
    """Return the control group in which this program may create groups with *controller*. Raises
    OSError.

    In v2, enable the controller for these groups. In a scope, move the processes of this program to
    the group RUNNER first, because a group with such groups must not contain processes.
    """
    missing = f"sys/fs/cgroup/{controller}"
    parent = at([*control_groups(controller, "cgroup.procs"), missing][0])
    is_ours = IN_SCOPE in os.environ
    if not _is_v2(parent):
        return parent
    if not is_ours and (parent / "cgroup.type").exists():  # it is not the root group
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(parent))
    if parent.name == RUNNER:
        parent = parent.parent
    elif is_ours:
        (parent / RUNNER).mkdir(exist_ok=True)
        for pid in (parent / "cgroup.procs").read_text().split():
            _write(parent / RUNNER / "cgroup.procs", pid)
    _write(parent / "cgroup.subtree_control", f"+{controller}")
    return parent


def _is_v2(group: Path) -> bool:
    return (group / "cgroup.controllers").exists()


def _write(file: Path, value: int | str) -> None:
    """Write *value* to the file *file* of a control group. Raises OSError with its path if the
    kernel refuses.
    """
    try:
        file.write_text(str(value))
    except OSError as error:
        error.filename = str(file)
        raise


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(
            "--cpus and --memory cannot be enforced here: {path}: {error}. Run gilscope as root, "
            "or on Linux with systemd and cgroup v2, or leave both out.",
            path=str(error.filename),
            error=str(error.strerror),
        ) from error
