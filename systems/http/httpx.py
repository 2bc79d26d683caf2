"""HTTP client row: httpx's blocking client on threads."""

from dataclasses import replace

from clients.http.rows import ROW, threads

SYSTEM = replace(
    ROW,
    name="http-httpx",
    title="Python httpx",
    client=threads("httpx", "HttpxConnection"),
    requirements="requirements/httpx.txt",
    request_cpu_us=600,
)
