"""HTTP client row: requests on threads."""

from dataclasses import replace

from clients.http.rows import ROW, threads

SYSTEM = replace(
    ROW,
    name="http-requests",
    title="Python requests",
    client=threads("requests", "RequestsConnection"),
    requirements="requirements/requests.txt",
    request_cpu_us=600,
)
