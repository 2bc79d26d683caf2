"""HTTP client row: httpx's blocking client on threads."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message

SYSTEM = replace(
    ROW,
    name="http-httpx",
    title=message("Python httpx"),
    client="clients.http.httpx:client",
    requirements="requirements/httpx.txt",
    request_cpu_us=600,
)
