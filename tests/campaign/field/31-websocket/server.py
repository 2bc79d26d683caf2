"""A WebSocket service with a thread for each connection: it answers each message in capitals. Usage: server.py PORT"""

import sys

from websockets.sync.server import serve


def capitals(connection):
    for message in connection:
        connection.send(message.upper())


with serve(capitals, "127.0.0.1", int(sys.argv[1])) as server:
    server.serve_forever()
