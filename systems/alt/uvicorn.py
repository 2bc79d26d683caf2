"""Alternative: an ASGI application on Uvicorn."""

from core.messages import message
from core.system import System

SYSTEM = System(
    name="alt-uvicorn",
    title=message("Uvicorn with uvloop and httptools, one loop"),
    group="league",
    service="services.alternatives.uvicorn_server:uvicorn_service",
    caller="clients.callers:http_caller",
    message="clients.channel:http_message",
    requirements="requirements/uvicorn.txt",
    request_cpu_us=200,
)
