"""Alternative: RPyC's ThreadedServer and its own client."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-rpyc",
    title=message("RPyC ThreadedServer, thread per connection"),
    group="league",
    reads=("TRANSPORT",),
    service="services.alternatives.rpyc_servers:threaded_service",
    caller="clients.alt.rpyc:caller",
    message="clients.channel:json_message",
    requirements="requirements/rpyc.txt",
    spreads=True,
    request_cpu_us=400,
)
