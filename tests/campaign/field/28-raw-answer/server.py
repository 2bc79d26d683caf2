"""Answers each connection's first bytes with -ERR; argument 2 = close: then hangs up. Usage: server.py PORT [close]"""

import socket
import sys
import threading


def serve(c):
    while c.recv(65536):
        c.sendall(b"-ERR unknown command\r\n")
        if sys.argv[2:]:
            break
    c.close()


s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
