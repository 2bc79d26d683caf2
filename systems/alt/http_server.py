"""Alternative: http.server, a thread for each connection."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-http-server",
    title=message("http.server, thread per connection"),
    group="league",
    service="services.alternatives.stdlib_http:http_server_service",
    caller="clients.callers:http_caller",
    message="clients.channel:http_message",
    spreads=True,
    request_cpu_us=300,
)
