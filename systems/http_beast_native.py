"""HTTP client row: Boost.Beast as a program of its own: native/http-beast."""

from clients.http_rows import COMMON, GROUP, READS, SERVER
from core.system import Program, System

SYSTEM = System(
    name="http-beast-native",
    title="C++ Beast",
    group=GROUP,
    common=COMMON,
    reads=READS,
    native_service=SERVER,
    native_client=Program(name="http-beast", arguments=("--child",)),
    request_cpu_us=40,
)
