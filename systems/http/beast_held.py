"""HTTP client row: Boost.Beast by the extension beastclient, which holds the GIL through its I/O."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message

SYSTEM = replace(
    ROW,
    name="http-beast-held",
    title=message("Python over Beast (GIL held)"),
    client="clients.http.beast:held",
    wheels=("beastclient",),
    request_cpu_us=60,
)
