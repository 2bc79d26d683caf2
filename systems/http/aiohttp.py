"""HTTP client row: aiohttp."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message

SYSTEM = replace(
    ROW,
    name="http-aiohttp",
    title=message("Python aiohttp"),
    client="clients.http.aiohttp:client",
    requirements="requirements/aiohttp.txt",
    request_cpu_us=250,
)
