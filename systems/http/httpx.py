"""HTTP client row: httpx's blocking client on threads."""

from dataclasses import replace

from clients.http.rows import ROW

SYSTEM = replace(
    ROW,
    name="http-httpx",
    title="Python httpx",
    client="clients.http.httpx:client",
    requirements="requirements/httpx.txt",
    request_cpu_us=600,
)
