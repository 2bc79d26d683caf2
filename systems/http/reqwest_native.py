"""HTTP client row: Rust's reqwest as a program of its own: native/http-reqwest."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message
from core.system import Program

SYSTEM = replace(
    ROW,
    name="http-reqwest-native",
    title=message("Rust reqwest"),
    native_client=Program(name="http-reqwest", arguments=("--child",)),
    request_cpu_us=60,
)
