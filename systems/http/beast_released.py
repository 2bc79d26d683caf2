"""HTTP client row: Boost.Beast by the extension beastclient, which releases the GIL through its I/O."""

from dataclasses import replace

from clients.http.rows import ROW, beast

SYSTEM = replace(
    ROW,
    name="http-beast-released",
    title="Python over Beast (GIL released)",
    client=beast("released"),
    wheels=("beastclient",),
    request_cpu_us=60,
)
