"""One event loop per thread on one listening socket. Usage: server.py PORT THREADS"""

import asyncio
import socket
import sys
import threading

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n"


class Hello(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.buffer = transport, b""

    def data_received(self, data):
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            self.buffer = self.buffer.partition(b"\r\n\r\n")[2]
            self.transport.write(ANSWER)


async def serve(listener):
    server = await asyncio.get_running_loop().create_server(Hello, sock=listener)
    await server.serve_forever()


port, threads = map(int, sys.argv[1:])
listener = socket.create_server(("127.0.0.1", port), backlog=256)
for _ in range(threads):
    threading.Thread(target=lambda: asyncio.run(serve(listener.dup()))).start()
