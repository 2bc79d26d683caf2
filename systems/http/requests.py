"""HTTP client row: requests on threads."""

from dataclasses import replace

from clients.http.rows import ROW

SYSTEM = replace(
    ROW,
    name="http-requests",
    title="Python requests",
    client="clients.http.requests:client",
    requirements="requirements/requests.txt",
    request_cpu_us=600,
)
