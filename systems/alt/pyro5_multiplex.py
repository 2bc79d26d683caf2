"""Alternative: Pyro5's multiplex server and its own client."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-pyro5-multiplex",
    title=message("Pyro5 multiplex, one thread"),
    group="league",
    reads=("TRANSPORT",),
    service="services.alternatives.pyro_daemon:multiplex_service",
    caller="clients.alt.pyro5:caller",
    message="clients.channel:json_message",
    requirements="requirements/pyro5.txt",
    request_cpu_us=300,
)
