"""HTTP client row: Rust's reqwest for asyncio, by the extension reqwestclient."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message

SYSTEM = replace(
    ROW,
    name="http-pyreqwest-async",
    title=message("Python over reqwest (asyncio)"),
    client="clients.http.pyreqwest:async_client",
    wheels=("reqwestclient",),
    request_cpu_us=250,
)
