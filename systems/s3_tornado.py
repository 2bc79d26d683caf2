"""Declare system 3: a Tornado service on TCP, and clients that keep their connections alive."""

from core.messages import message
from core.system import NATIVE_CLIENT, System

SYSTEM = System(
    number="3",
    name="tornado",
    title=message("Tornado"),
    service="services.tornado_app:tornado_service",
    caller="clients.callers:http_caller",
    message="clients.channel:http_message",
    native_client=NATIVE_CLIENT,
    supports_hosts=True,
    request_cpu_us=400,
    requirements="requirements/tornado.txt",
)
