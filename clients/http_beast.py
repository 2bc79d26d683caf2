"""Connections by the extension beastclient: one source in C++, with the GIL held or released through its I/O."""

from importlib import import_module

from clients.channel import CallFailed
from clients.http_threads import Connect, Connection


class BeastConnection:
    """One Connection of a module of beastclient (held, released, undeclared or undeclared_released)."""

    __slots__ = ("_connection", "_failed", "_get")

    def __init__(self, module: str, host: str, port: int, deadline_s: float) -> None:
        beast = import_module("beastclient." + module)
        self._failed = beast.Failed
        try:
            self._connection = beast.Connection(host, port, deadline_s)
        except beast.Failed as failed:
            raise CallFailed(failed.args[0]) from failed
        self._get = self._connection.get

    def get(self) -> tuple[int, int]:
        """GET /: status and length of the body. Raises CallFailed."""
        try:
            answer: tuple[int, int] = self._get("/")
        except self._failed as failed:
            raise CallFailed(failed.args[0]) from failed
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def connect_by(module: str) -> Connect:
    """How *module* of beastclient connects. It is imported now, so that the GIL is as it leaves it."""
    import_module("beastclient." + module)

    def connect(host: str, port: int, deadline_s: float) -> Connection:
        return BeastConnection(module, host, port, deadline_s)

    return connect
