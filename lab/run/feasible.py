"""What can be measured here: programs, packages, processes that can be seen, and open files enough."""

from collections.abc import Mapping
from dataclasses import replace

from config.plan import Plan
from config.plan_options import IN_SLICES, SEQUENTIAL
from core.cell import Cell
from core.errors import BadInput
from core.messages import NOTHING, Message, message
from core.method import Method
from core.redact import Redactor
from core.runtime import NATIVE
from core.system import CLIENT, SERVICE, System
from lab.environments.environment import EnvironmentFailed
from lab.machine import host
from lab.machine.wakeups import expect_idle_class
from lab.native.programs import ProgramMissing
from lab.run.runtimes import AnyRuntime, runtime_of
from lab.user_service.pythons import expect_proc
from systems import built_in

FILES_PER_CHILD = 3
OWN_FILES = 64
SPARE_FILES = 32
HTTP_CLIENTS = "http-clients"


def without_absent(plan: Plan, runtimes: Mapping[str, AnyRuntime]) -> Plan:
    """The plan with the reason of each system that cannot be measured under a runtime; it has no cells there.

    Makes the environments that systems need: packages that cannot be installed are a reason, like a program that
    is not built. `native` is dropped from the plan's runtimes if none of its programs is there.
    """
    reasons = {
        (key, runtime): _why_absent(plan.systems[key], runtime, runtimes, plan.method) for key, runtime in plan.pairs()
    }
    absent = {pair: why for pair, why in reasons.items() if why}
    useless = all(pair in absent for pair in plan.pairs() if pair[1] == NATIVE) and len(plan.runtimes) > 1
    names = tuple(name for name in plan.runtimes if not (useless and name == NATIVE))
    return replace(plan, runtimes=names, absent=absent)


def _why_absent(system: System, runtime: str, runtimes: Mapping[str, AnyRuntime], method: Method) -> Message:
    if system.no_forced_gil and runtimes[runtime].name.gil_forced:
        return system.no_forced_gil
    for role in (SERVICE, CLIENT):
        try:
            runtime_of(role, system, runtimes, runtime, method).command(system, role)
        except (ProgramMissing, EnvironmentFailed) as error:
            return Redactor(()).message(error.message)  # pip names the index with its password
    return NOTHING


def prepare(runtimes: Mapping[str, AnyRuntime]) -> list[Message]:
    """Make the environments that the four systems need; a message for each that cannot be made."""
    failures = []
    for system in built_in():
        for name, runtime in runtimes.items():
            try:
                if system.group == "systems" and system.requirements:
                    runtime.command(system, SERVICE)
            except EnvironmentFailed as error:
                failures.append(message("{name}: {reason}", name=name, reason=error.message))
    return failures


def in_order(plan: Plan) -> Plan:
    """The plan, whose arms take turns in slices of time unless something is against it, which it names then.

    Raises BadInput where slices are asked for and not possible.
    """
    reason = message("--order sequential asks for it") if plan.arm_order == SEQUENTIAL else _against_slices(plan)
    if reason and plan.arm_order == IN_SLICES:
        raise BadInput("--order slices is not possible: {reason}. Leave it out.", reason=reason)
    return replace(plan, method=replace(plan.method, slices=not reason), arm_order_reason=reason)


def _against_slices(plan: Plan) -> Message:
    """What is against slices of time, or nothing."""
    own, is_native = plan.user_service, plan.method.client_runtime == NATIVE
    obstacles = {
        message("a number of requests is timed, not a time (--duration)"): not plan.method.duration_s,
        message("a service that already runs is not started by gilscope"): bool(own and own.targets),
        message("the service has a fixed port, so there can be only one of it"): bool(
            own and own.command and own.command.first_port
        ),
        message("a system's own client cannot send in slices"): not all(
            system.takes_slices(native_client=is_native) for system in plan.systems.values()
        ),
        message("there is nothing to compare"): len({entry.arm for entry in plan.entries()}) < 2,
    }
    return next((obstacle for obstacle, is_there in obstacles.items() if is_there), NOTHING)


def preflight(plan: Plan) -> None:
    """Make room for the open files that the plan's largest cell needs.

    Raises BadInput if there is too little, for a command without /proc, for cores that cannot be held
    awake, and for services that no client calls.
    """
    if plan.user_service and plan.user_service.command:
        expect_proc()
    if not plan.layout and any(cell.keep_awake for cell in plan.cells()):
        expect_idle_class()
    _expect_calls(plan)
    host.raise_open_files(max(files_needed(cell) for cell in plan.cells()))


def _expect_calls(plan: Plan) -> None:
    """Raises BadInput for HTTP clients whose connections do not reach every service: each is to one of them."""
    for cell in plan.cells():
        connections = cell.num_clients * cell.num_connections_per_client
        if plan.systems[cell.system].group == HTTP_CLIENTS and 0 < connections < cell.num_api_services:
            raise BadInput(
                "NUM_CLIENTS x NUM_CONNECTIONS_PER_CLIENT is {connections} and NUM_API_SERVICES is {services}: "
                "{uncalled} of them would not be called. Use at least {services} connections.",
                connections=connections,
                services=cell.num_api_services,
                uncalled=cell.num_api_services - connections,
            )


def files_needed(cell: Cell) -> int:
    """Open files of the process of *cell* that needs most: the orchestrator, a service or a client."""
    sockets = cell.num_multi_socket if "NUM_MULTI_SOCKET" in cell.reads else 1
    per_pair = cell.num_connections_per_client * (sockets if cell.client_binding == "random" else 1)
    service = sockets + cell.num_clients * per_pair
    client = cell.num_api_services * per_pair
    orchestrator = OWN_FILES + FILES_PER_CHILD * (cell.num_api_services + cell.num_clients)
    return SPARE_FILES + max(service, client, orchestrator)
