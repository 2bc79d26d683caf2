"""A measured child process: `python -m systems service` or `python -m systems client`. See docs/child-contract.md."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from core.cell import Cell
from core.child import (
    STOPPED_EARLY,
    ParentWatch,
    Usage,
    exit_at_once,
    next_word,
    read_cell,
    say_done,
    say_ready,
    say_result,
    stay_on,
)
from core.method import Method
from core.runtime import gil_enabled
from core.system import ClientFactory, System, loaded
from core.system_file import TOLD, load_system
from systems import find


def serve() -> None:
    """Serve until end of file on stdin; `reset` says that the warm-up is over and nothing is under way."""
    told = read_cell()
    cell = Cell.from_json(told)
    stay_on(told.get("cpus", ()))
    service = loaded(_system(told, cell).service)(cell, told["service_id"], told["folder"])
    service.start()
    usage, ready = Usage(), gil_enabled()
    say_ready([listener.address for listener in service.listeners])
    while word := next_word():
        if word == "reset":
            service.reset()
            usage = Usage()
            say_done(word)
    result = {**usage.to_json(), "gil_enabled_ready": ready, "gil_enabled_end": gil_enabled()}
    result |= service.counters()  # a service whose work is elsewhere knows better
    for listener in service.listeners:
        listener.remove_file()
    say_result(result)
    exit_at_once()


def call() -> None:
    """Warm up if told to, wait for go, send all requests, say what came of them."""
    told = read_cell()
    cell = Cell.from_json(told)
    stay_on(told.get("cpus", ()))
    method = Method.from_json(told["method"]) if "method" in told else Method()
    client = _client(told, cell)(cell, told["client_id"], told["addresses"], method)
    ready = gil_enabled()
    say_ready([])
    while (word := next_word()) != "go":
        if word != "warm":
            exit_at_once(STOPPED_EARLY)
        client.warm_up()
        say_done(word)
    watch, usage = ParentWatch(), Usage()
    counted = client.run()
    watch.say_result_and_stay(
        {**usage.to_json(), **counted, "gil_enabled_ready": ready, "gil_enabled_end": gil_enabled()}
    )


def _client(told: Mapping[str, Any], cell: Cell) -> ClientFactory:
    """The system's own client, or else the common loop around its caller; that of a user's service is told it all."""
    if "own" in told:
        from clients.user_service.client import UserServiceClient

        return partial(UserServiceClient, told["own"])
    system = _system(told, cell)
    if system.client:
        return loaded(system.client)
    from clients.drive import CallerClient

    return partial(CallerClient, system)


def _system(told: Mapping[str, Any], cell: Cell) -> System:
    """The cell's system; the file of one that is outside the repository was told."""
    return load_system(Path(told[TOLD])) if TOLD in told else find(cell.system)


ROLES = {"service": serve, "client": call}

if __name__ == "__main__":
    if sys.argv[1:] not in [[role] for role in ROLES]:
        sys.exit(f"usage: python -m systems {'|'.join(ROLES)}")
    ROLES[sys.argv[1]]()
