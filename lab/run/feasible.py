"""Check before a run whether this machine has what it needs: programs, packages, visible processes,
open files.

commands/chosen.py, commands/running.py and commands/stress.py call this before a run, in the order
drop_absent, expect_different, choose_arm_order, preflight. A Plan (config/run_plan.py) is frozen;
drop_absent and choose_arm_order return a new one. `make setup` calls prepare().
"""

import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from config.plan_options import IN_SLICES, SEQUENTIAL
from config.run_plan import Plan
from config.user_service.service import systems
from core.cell import Cell
from core.messages import NOTHING, BadInput, Json, Message, message
from core.method import Method
from core.runtime import GIL, NATIVE
from core.secret import Redactor
from core.system import CLIENT, SERVICE, SYSTEMS, System
from lab.environments.environment import EnvironmentFailed
from lab.machine import host
from lab.machine.wakeups import require_idle_class
from lab.run.measured_runtimes import Runtime, Runtimes, UserServiceRuntime, runtime_of
from systems import built_in

# the fields of a command that name packages, without packages: to compare all other fields
NO_PACKAGES: Json = {"requirements": "", "packages": (), "overrides": ()}
FILES_PER_CHILD = 3  # of the orchestrator: pipes to stdin, stdout and stderr
OWN_FILES = 64  # of the orchestrator besides those pipes
SPARE_FILES = 32  # that a process has open besides its sockets or pipes
HTTP_CLIENTS = "http-clients"  # the group of the systems of experiments/http_clients
PROC_STAT = Path("/proc/self/stat")  # is missing if there is no Linux /proc


def expect_proc() -> None:
    """Raise BadInput if there is no /proc, without which a command's processes cannot be counted or
    ended.
    """
    if not PROC_STAT.exists():
        raise BadInput(
            "To start a service by its command, gilscope needs /proc, which {platform} does not "
            "have. Measure on Linux, or start the service yourself and name its URL with --target.",
            platform=sys.platform,
        )


def drop_absent(plan: Plan, runtimes: Runtimes) -> Plan:
    """Remove measurements that are impossible here from the plan, and add the reasons. Return the
    new plan.

    This makes the environments that systems need. Reasons are packages that cannot be installed,
    and programs that are not built. `native` is dropped from the plan's runtimes if none of its
    programs is built.
    """
    pairs = plan.pairs()
    reasons: dict[tuple[str, str], Message] = {
        (system.key, runtime): why
        for system, runtime in pairs
        if (why := _why_absent(system, runtime, runtimes, plan.method))
    }
    used = {runtime for system, runtime in pairs if (system.key, runtime) not in reasons}
    names = tuple(name for name in plan.runtimes if name != NATIVE or name in used)
    # A plan keeps at least one runtime.
    return replace(plan, runtimes=names or plan.runtimes, absent=reasons)


def expect_different(plan: Plan, runtimes: Runtimes) -> None:
    """Raise BadInput if two variants differ only in their requirements, but have the same packages
    under the first runtime that measures them.
    """
    service = plan.user_service
    key = plan.rows[0].system.key
    measured = (runtimes[name] for name in plan.runtimes if (key, name) not in plan.absent)
    runtime = next(measured, None)
    if not service or not service.variants or not isinstance(runtime, Runtime):
        return
    started = UserServiceRuntime(runtime=runtime)
    packages = [runtime.installed(Path(started.python(one))) for one in systems(service)]
    named = [*zip(service.variants.items(), packages, strict=True)]
    for ((one, first), mine), ((other, second), theirs) in combinations(named, 2):
        are_alike = {**first.plain, **NO_PACKAGES} == {**second.plain, **NO_PACKAGES}
        if are_alike and mine == theirs:
            raise BadInput(
                "The variants {one} and {other} have the same packages under {runtime}. Give one "
                "of them other requirements.",
                one=one,
                other=other,
                runtime=runtime.name,
            )


def _why_absent(system: System, runtime: str, runtimes: Runtimes, method: Method) -> Message:
    if system.no_forced_gil and GIL in runtimes[runtime].name.suffixes:
        return system.no_forced_gil
    for role in (SERVICE, CLIENT):
        try:
            runtime_of(role, system, runtimes, runtime, method).command(system, role)
        except EnvironmentFailed as error:
            # pip's errors contain the password of the index
            return Redactor(()).message(error.message)
    return NOTHING


def prepare(runtimes: Runtimes) -> list[Message]:
    """Create the environments of the four built-in systems. Return a message for each one that
    cannot be created.
    """
    needy = [system for system in built_in() if system.group == SYSTEMS and system.requirements]
    return [
        message("{name}: {reason}", name=name, reason=reason)
        for system in needy
        for name in runtimes
        if (reason := _why_absent(system, name, runtimes, Method()))
    ]


def choose_arm_order(plan: Plan) -> Plan:
    """Choose whether the compared runtimes alternate in time slices or run one after another.
    Return the new plan.

    Raises BadInput if the plan asks for slices, but they are not possible.
    """
    reason = (
        message("--order sequential is set")
        if plan.arm_order == SEQUENTIAL
        else _against_slices(plan)
    )
    if reason and plan.arm_order == IN_SLICES:
        raise BadInput(
            "--order slices is not possible: {reason}. Leave --order out.", reason=reason
        )
    return replace(plan, method=replace(plan.method, slices=not reason), arm_order_reason=reason)


def _against_slices(plan: Plan) -> Message:
    """Return why the compared runtimes or services cannot alternate in time slices; NOTHING if they
    can.
    """
    own, is_native = plan.user_service, plan.method.client_runtime == NATIVE
    obstacles = {
        message("each client sends a fixed number of requests, because --duration is not set"): (
            not plan.method.duration_s
        ),
        message("gilscope does not start a service that already runs"): bool(own and own.targets),
        message("the service has a fixed port, so only one instance can run"): bool(
            own and own.command and own.command.first_port
        ),
        message("the client of a system cannot send its requests in time slices"): not all(
            system.takes_slices(native_client=is_native) for system in plan.systems.values()
        ),
        message("a search for the highest rate measures each rate separately"): bool(
            plan.objectives
        ),
        message("with --rate, a queue that empties between time slices would hide latency"): any(
            cell.rate for cell in plan.cells()
        ),
        message(
            "with --cpus, a runtime would receive new CPU quota while it waits for its time slice"
        ): bool(plan.method.limit_cpus),
        message("the plan measures only one arm (runtime or service)"): (
            len({entry.arm for entry in plan.entries()}) < 2 and not any(plan.swept.values())
        ),
    }
    return next((obstacle for obstacle, is_there in obstacles.items() if is_there), NOTHING)


def preflight(plan: Plan) -> None:
    """Raise the limit of open files to what the plan's largest measurement needs, and check that
    the plan can run.

    Raises BadInput if the limit is too low, /proc is missing for a service by command, cores cannot
    be held awake, or no client would call some service.
    """
    if any(system.hosted for system in plan.systems.values()) and not (
        plan.user_service and plan.user_service.targets
    ):
        expect_proc()
    cells = plan.cells()
    if not plan.layout and any(cell.keep_awake for cell in cells):
        require_idle_class()
    for cell in cells:
        connections = cell.num_clients * cell.num_connections_per_client
        if (
            plan.systems[cell.system].group == HTTP_CLIENTS
            and 0 < connections < cell.num_api_services
        ):
            raise BadInput(
                "NUM_CLIENTS x NUM_CONNECTIONS_PER_CLIENT is {connections}, but "
                "NUM_API_SERVICES is {services}. With so few connections, {uncalled} of the "
                "services would not be called by any client. Use at least {services} "
                "connections.",
                connections=connections,
                services=cell.num_api_services,
                uncalled=cell.num_api_services - connections,
            )
    host.raise_open_files(max(map(files_needed, cells)))


def files_needed(cell: Cell) -> int:
    """Return the largest number of open files that the orchestrator, a service or a client needs
    for *cell*.
    """
    sockets = cell.num_multi_socket if "NUM_MULTI_SOCKET" in cell.reads else 1
    per_pair = cell.num_connections_per_client * (sockets if cell.client_binding == "random" else 1)
    service = sockets + cell.num_clients * per_pair
    client = cell.num_api_services * per_pair
    orchestrator = OWN_FILES + FILES_PER_CHILD * (cell.num_api_services + cell.num_clients)
    return SPARE_FILES + max(service, client, orchestrator)
