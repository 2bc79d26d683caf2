"""Alternative: Pyro5's multiplex server and its own client."""

from clients.alt.callers import json_message, pyro5_caller
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.hosted import unix_path
    from services.alternatives.pyro_daemon import pyro_service

    return pyro_service(unix_path(cell, service_id, folder), "multiplex")


SYSTEM = System(
    name="alt-pyro5-multiplex",
    title="Pyro5 multiplex, one thread",
    group="league",
    reads=("TRANSPORT",),
    service=_service,
    caller=pyro5_caller,
    message=json_message,
    requirements="requirements/pyro5.txt",
    request_cpu_us=300,
)
