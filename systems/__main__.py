"""A measured child process: `python -m systems service` or `python -m systems client`. See docs/child-contract.md."""

import sys

from core.cell import Cell
from core.child import (
    Usage,
    end_with_parent,
    read_cell,
    say_ready,
    say_result_and_exit,
    wait_for_end,
    wait_for_go,
)
from core.runtime import gil_enabled
from systems import find


def serve() -> None:
    """Serve until end of file on stdin."""
    told = read_cell()
    cell = Cell.from_json(told)
    service = find(cell.system).service(cell, told["service_id"], told["folder"])
    service.start()
    usage, ready = Usage(), gil_enabled()
    say_ready([listener.address for listener in service.listeners])
    wait_for_end()
    result = {
        **usage.to_json(),
        **service.counters(),
        "gil_enabled_ready": ready,
        "gil_enabled_end": gil_enabled(),
    }
    for listener in service.listeners:
        listener.close()
    say_result_and_exit(result)


def call() -> None:
    """Wait for go, send all requests, say what came of them."""
    from clients.drive import Client

    told = read_cell()
    cell = Cell.from_json(told)
    client = Client(find(cell.system), cell, told["client_id"], told["addresses"])
    say_ready([])
    wait_for_go()
    end_with_parent()
    usage, ready = Usage(), gil_enabled()
    counted = client.run()
    say_result_and_exit({**counted, **usage.to_json(), "gil_enabled_ready": ready, "gil_enabled_end": gil_enabled()})


ROLES = {"service": serve, "client": call}

if __name__ == "__main__":
    if sys.argv[1:] not in [[role] for role in ROLES]:
        sys.exit(f"usage: python -m systems {'|'.join(ROLES)}")
    ROLES[sys.argv[1]]()
