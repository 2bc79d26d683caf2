"""Measure what sessions cost the native client: its rate with cookies and values from answers, and without.

Usage: python -m benchmarks.session_cost [--save 'json: /id'] [--repeats 9] [--duration 1]

save: where each answer has the value for the next request, such as 'header: ETag' or 'regex: "([0-9]+)"'

A rate is the requests per second of CPU time of the client, because the service, which always gives the same answer, is
slower than the client. The ratio is the median of alternating pairs of runs, and must be above 0.8.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import yaml

from benchmarks.bench import compared, measured, opened, options, print_table
from config.user_service.plan import user_service_plan
from core.method import Method, Warmup
from core.parent import die_with_parent
from core.result import CellResult
from core.runtime import NATIVE
from lab.run.cell_run import Bench
from lab.run.runtimes import orchestrator
from reports.facts.figures import cpu_ns

SERVICE = r"""import asyncio
BODY = b'{"token": "0123456789abcdef", "id": 3, "name": "a cup of tea", "price": {"value": 12.5, "currency": "EUR"}}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nETag: 0123456789\r\n%sContent-Length: %d\r\n\r\n"
LOGIN = HEAD % (b"Set-Cookie: sid=0123456789abcdef; Path=/\r\n", len(BODY)) + BODY
ITEM = HEAD % (b"", len(BODY)) + BODY

class Peer(asyncio.Protocol):
    def connection_made(self, transport):
        self.write = transport.write
    def data_received(self, data):
        self.write(LOGIN if data.startswith(b"POST /login") else ITEM)

async def main():
    server = await asyncio.get_running_loop().create_server(Peer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""
PLAIN = "[{request: PUT /3, headers: {X-Token: 0123456789abcdef}, body: '1'}]"
SESSION = """[{request: POST /login, first: true, body: '{}', save: {token: {json: /token}, item: {SAVE}}},
 {request: 'PUT /{{item}}', headers: {X-Token: '{{token}}'}, body: '{{counter}}', save: {item: {SAVE}}}]"""


def main() -> None:
    """Print the rates and their ratio as a Markdown table."""
    given = options(__doc__, save="json: /id", repeats=9, duration=1.0)
    method = Method(client_runtime=NATIVE, duration_s=given.duration, warmup=Warmup(share=0.1))
    command = [sys.executable, "-c", SERVICE]
    end = partial(die_with_parent, os.getpid(), signal.SIGKILL)
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=end) as service,  # noqa: PLW1509
        opened(orchestrator(), method=method) as bench,
    ):
        assert service.stdout
        url = f"http://127.0.0.1:{service.stdout.readline().strip()}/"
        cells = [_cell(url, requests, bench) for requests in (PLAIN, SESSION.replace("SAVE", given.save))]
        row = [*compared(given.repeats, cells, lambda cell: cell.answered * 1e9 / (cpu_ns(cell.clients) or 1))]
        service.kill()
    print_table("without a session [1/s of CPU] | with | ratio", [row])


def _cell(url: str, requests: str, bench: Bench) -> Callable[[], CellResult]:
    """Return a function that measures a cell of one native client. It raises ChildFailed if the cell is not ok."""
    given = {"targets": {"peer": url}, "requests": yaml.safe_load(requests)}
    plan = user_service_plan(given, Path.cwd()).with_values({"NUM_CLIENTS": (1,)})
    (cell,) = plan.cells()
    return partial(measured, cell, bench, plan.systems[cell.system])


if __name__ == "__main__":
    main()
