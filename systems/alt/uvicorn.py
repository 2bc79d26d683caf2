"""Alternative: an ASGI application on Uvicorn."""

from clients.alt.callers import http_caller
from clients.channel import http_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.asgi_app import asgi_app
    from services.alternatives.counts import Counts
    from services.alternatives.uvicorn_server import uvicorn_service
    from services.listeners import listen_tcp

    counts = Counts()
    return uvicorn_service(listen_tcp(), asgi_app(counts), counts)


SYSTEM = System(
    name="alt-uvicorn",
    title="Uvicorn with uvloop and httptools, one loop",
    group="league",
    service=_service,
    caller=http_caller,
    message=http_message,
    requirements="requirements/uvicorn.txt",
    request_cpu_us=200,
)
