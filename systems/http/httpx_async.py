"""HTTP client row: httpx's client for asyncio."""

from dataclasses import replace

from clients.http.rows import ROW

SYSTEM = replace(
    ROW,
    name="http-httpx-async",
    title="Python httpx (asyncio)",
    client="clients.http.httpx:async_client",
    requirements="requirements/httpx.txt",
    request_cpu_us=800,
)
