"""HTTP client row: requests on threads."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message

SYSTEM = replace(
    ROW,
    name="http-requests",
    title=message("Python requests"),
    client="clients.http.requests:client",
    requirements="requirements/requests.txt",
    request_cpu_us=600,
)
