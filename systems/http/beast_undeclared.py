"""HTTP client row: as http-beast-held, but the extension does not declare that it can do without the GIL."""

from dataclasses import replace

from clients.http.rows import ROW
from core.messages import message

SYSTEM = replace(
    ROW,
    name="http-beast-undeclared",
    title=message("Python over Beast (GIL held, undeclared)"),
    client="clients.http.beast:undeclared",
    wheels=("beastclient",),
    turns_gil_on=True,
    request_cpu_us=60,
)
