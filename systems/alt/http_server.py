"""Alternative: http.server, a thread for each connection."""

from clients.alt.callers import http_caller
from clients.channel import http_message
from core.cell import Cell
from core.system import Service, System


def _service(cell: Cell, service_id: int, folder: str) -> Service:
    from services.alternatives.stdlib_http import http_server_service
    from services.listeners import listen_tcp

    return http_server_service(listen_tcp())


SYSTEM = System(
    name="alt-http-server",
    title="http.server, thread per connection",
    group="league",
    service=_service,
    caller=http_caller,
    message=http_message,
    request_cpu_us=300,
)
