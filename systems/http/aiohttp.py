"""HTTP client row: aiohttp."""

from dataclasses import replace

from clients.http.rows import ROW, tasks

SYSTEM = replace(
    ROW,
    name="http-aiohttp",
    title="Python aiohttp",
    client=tasks("aiohttp", "AiohttpConnection"),
    requirements="requirements/aiohttp.txt",
    request_cpu_us=250,
)
