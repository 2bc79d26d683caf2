"""asyncio streams: a coroutine for each connection, all in one event loop; the calculation runs in the loop.

As "TCP echo server using streams" in the documentation, with readexactly for the length and the body. asyncio sets
TCP_NODELAY itself. Source: docs.python.org/3/library/asyncio-stream.html
"""

import asyncio

from core.cell import Cell
from core.wire import frame
from core.work import answer
from experiments.league.hosted import HEADER_BYTES, Counts, HostedService, body_bytes, refusal, refused
from services.listeners import listen


def streams_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """The service of *cell*, listening."""
    listener, counts = listen(cell, service_id, folder)[0], Counts()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not refused(size := body_bytes(await reader.readexactly(HEADER_BYTES))):
                reply = frame(answer(await reader.readexactly(size)))
                counts.add()
                writer.write(reply)
                await writer.drain()
            writer.write(refusal(size))
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    async def run() -> None:
        listener.sock.setblocking(False)
        async with await asyncio.start_server(serve, sock=listener.sock) as server:
            await server.serve_forever()

    return HostedService(listener, lambda: asyncio.run(run()), counts)
