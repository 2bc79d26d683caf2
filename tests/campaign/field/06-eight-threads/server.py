"""Keep-alive server with a pool of 8 threads; each thread stays with its connection."""

from raw import HELLO, heads, serve


def talk(sock):
    for _ in heads(sock):
        sock.sendall(HELLO)


serve(talk, threads=8)
