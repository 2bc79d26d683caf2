"""HTTP client row: Rust's reqwest, blocking, by the extension reqwestclient."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message

SYSTEM = replace(
    ROW,
    name="http-pyreqwest",
    title=message("Python over reqwest (blocking)"),
    client="clients.http.pyreqwest:client",
    wheels=("reqwestclient",),
    request_cpu_us=150,
)
