"""HTTP client row: Rust's reqwest as a program of its own: native/http-reqwest."""

from clients.http_rows import COMMON, GROUP, READS, SERVER
from core.system import Program, System

SYSTEM = System(
    name="http-reqwest-native",
    title="Rust reqwest",
    group=GROUP,
    common=COMMON,
    reads=READS,
    native_service=SERVER,
    native_client=Program(name="http-reqwest", arguments=("--child",)),
    request_cpu_us=60,
)
