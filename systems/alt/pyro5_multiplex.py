"""Alternative: Pyro5's multiplex server and its own client."""

from clients.alt.callers import caller_of, json_message
from core.cell import Cell
from core.system import Channel, Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.hosted import unix_path
    from services.alternatives.pyro_daemon import pyro_service

    return pyro_service(unix_path(cell, service_id, folder), "multiplex")


def _channel(address: str) -> Channel:
    from clients.alt.pyro5 import PyroChannel

    return PyroChannel(address)


SYSTEM = System(
    name="alt-pyro5-multiplex",
    title="Pyro5 multiplex, one thread",
    group="league",
    reads=("TRANSPORT",),
    service=_service,
    caller=caller_of(_channel),
    message=json_message,
    requirements="requirements/pyro5.txt",
    request_cpu_us=300,
)
