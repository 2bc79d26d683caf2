"""HTTP client row: as http-beast-released, but the extension does not declare that it can do without the GIL."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message

SYSTEM = replace(
    ROW,
    name="http-beast-undeclared-released",
    title=message("Python over Beast (GIL released, undeclared)"),
    client="clients.http.beast:undeclared_released",
    wheels=("beastclient",),
    turns_gil_on=True,
    request_cpu_us=60,
)
