"""HTTP client row: the standard library's http.client on threads."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message

SYSTEM = replace(
    ROW,
    name="http-stdlib",
    title=message("Python http.client"),
    client="clients.http.stdlib:client",
    request_cpu_us=150,
)
