"""HTTP client row: Boost.Beast as a program of its own: native/http-beast."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message
from core.system import Program

SYSTEM = replace(
    ROW,
    name="http-beast-native",
    title=message("C++ Beast"),
    native_client=Program(name="http-beast", arguments=("--child",)),
    request_cpu_us=40,
)
