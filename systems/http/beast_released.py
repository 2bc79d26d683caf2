"""HTTP client row: Boost.Beast by the extension beastclient, which releases the GIL through its I/O."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message

SYSTEM = replace(
    ROW,
    name="http-beast-released",
    title=message("Python over Beast (GIL released)"),
    client="clients.http.beast:released",
    wheels=("beastclient",),
    request_cpu_us=60,
)
