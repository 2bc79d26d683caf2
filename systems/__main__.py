"""Run a measured child process: `python -m systems service` or `client`. See
docs/child-contract.md.

The orchestrator (lab/run/cell_processes.py) starts one for each service and client of a cell, under
the measured runtime, and writes and reads the lines of core/child.py. What a child imports is part
of its memory and its start, so both roles import only what their system needs.
"""

import sys
from functools import partial

from core.cell import Cell
from core.child import (
    STOPPED_EARLY,
    ParentWatch,
    Slice,
    Usage,
    exit_at_once,
    next_command,
    parse_release,
    print_done,
    print_ready,
    print_result,
    read_cell,
    resets,
    wait_until,
)
from core.messages import Json
from core.method import Method
from core.runtime import ready_and_end, states
from core.system import CLIENT, SERVICE, ClientFactory, loaded
from services.listeners import Reach
from systems import system_of


def serve() -> None:
    """Run a service until stdin ends. The command `reset` on stdin sets all counters to zero after
    the warm-up.
    """
    first_line = read_cell()
    cell = Cell.from_json(first_line)
    Reach.address, Reach.peers = (
        first_line.get("address", Reach.address),
        frozenset(first_line.get("peers", ())),
    )
    service = loaded(system_of(first_line).service)(
        cell, first_line["service_id"], first_line["folder"]
    )
    service.start()
    # before the ready line, so that all requests are part of the usage
    usage, ready = Usage(), states()
    print_ready([listener.address for listener in service.listeners])
    for _ in resets():
        service.reset()
        usage = Usage()
    result = {**usage.to_json(), **ready_and_end(ready)}
    result |= {"strangers": Reach.strangers} if Reach.peers else {}
    result |= service.counters()  # replaces the usage if the service works in another process
    for listener in service.listeners:
        listener.remove_file()
    print_result(result)
    exit_at_once()


def call() -> None:
    """Run a client. Commands on stdin: `warm` (warm up), `go` (send all requests), `slice` (send
    for a short time).
    """
    first_line = read_cell()
    cell = Cell.from_json(first_line)
    method = Method.from_json(first_line["method"]) if "method" in first_line else Method()
    client = _client(first_line)(cell, first_line["client_id"], first_line["addresses"], method)
    ready = states()
    print_ready([])
    while (part := parse_release(word := next_command())) is None:
        if word != "warm":
            exit_at_once(STOPPED_EARLY)
        client.warm_up()
        print_done(word)
    watch = ParentWatch()
    while part is not None:
        usage = Usage()
        if isinstance(part, Slice):
            counted = client.run_slice(part)
        else:
            wait_until(part)
            counted = client.run()
        watch.print_result({**usage.to_json(), **counted, **ready_and_end(ready)})
        part = parse_release(watch.next_command())
    exit_at_once(STOPPED_EARLY)


def _client(first_line: Json) -> ClientFactory:
    """Return the factory that creates the client of the cell.

    It is UserServiceClient for a user's service, else the factory that the system defines, else
    CallerClient.
    """
    if "own" in first_line:
        from clients.user_service import UserServiceClient

        return partial(UserServiceClient, first_line["own"], block=first_line.get("block", 1))
    system = system_of(first_line)
    if system.client:
        return loaded(system.client)
    from clients.drive import CallerClient

    return partial(CallerClient, system)


ROLES = {SERVICE: serve, CLIENT: call}

if __name__ == "__main__":
    if sys.argv[1:] not in [[role] for role in ROLES]:
        sys.exit(f"usage: python -m systems {'|'.join(ROLES)}")
    ROLES[sys.argv[1]]()
