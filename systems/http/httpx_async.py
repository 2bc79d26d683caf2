"""HTTP client row: httpx's client for asyncio."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message

SYSTEM = replace(
    ROW,
    name="http-httpx-async",
    title=message("Python httpx (asyncio)"),
    client="clients.http.httpx:async_client",
    requirements="requirements/httpx.txt",
    request_cpu_us=800,
)
