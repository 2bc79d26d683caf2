"""Links that asyncssh carries. Its event loop has a thread of its own; two sockets stand between it and the others."""

import asyncio
import os
import socket
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import asyncssh

from core.hosts import Host
from core.messages import Message, message, verbatim
from core.printable import for_terminal
from lab.hosts.commands import parts
from lab.hosts.frames import KEPT_ALIVE_COUNT, KEPT_ALIVE_S
from lab.hosts.links import CONNECT_S, Link, LinkLost, start_command
from lab.output import Kept

KEEPALIVE = {"TCP_KEEPIDLE": round(KEPT_ALIVE_S), "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": KEPT_ALIVE_COUNT}
# While what was said waits for an acknowledgement, the kernel does not probe: it would say it again for a quarter of
# an hour. Source: tcp(7)
UNACKNOWLEDGED_MS = round((KEPT_ALIVE_S + KEPT_ALIVE_COUNT) * 1000)
PUMP_BYTES = 1 << 16


_making_loop = threading.Lock()


@cache
def _only_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="asyncssh", daemon=True).start()
    return loop


def _loop() -> asyncio.AbstractEventLoop:
    """One for all links: hosts are connected at the same time, and what another loop carries cannot be ended."""
    with _making_loop:
        return _only_loop()


def by_asyncssh(host: Host, process_group: int) -> Link:
    """A session that runs the agent's start command. Raises LinkLost with the reason, such as another host key."""
    inner, outer = socket.socketpair()
    carried = _Carried(host, inner)
    running = asyncio.run_coroutine_threadsafe(carried.connect(), _loop())
    try:
        running.result(CONNECT_S + 1)
    except (OSError, asyncssh.Error, TimeoutError, ValueError) as error:
        running.cancel()
        inner.close()
        outer.close()
        raise LinkLost(_why(error)) from None
    outer.setblocking(True)
    write_fd = os.dup(outer.fileno())
    os.set_blocking(write_fd, True)

    def kill() -> None:
        with suppress(TimeoutError, OSError, asyncssh.Error):
            asyncio.run_coroutine_threadsafe(carried.end(), _loop()).result(CONNECT_S)
        outer.close()
        with suppress(OSError):
            os.close(write_fd)

    return Link(
        read_fd=outer.fileno(),
        write_fd=write_fd,
        kill=kill,
        status=lambda: carried.status,
        complaints=carried.complaints,
    )


class _Carried:
    """One connection with one session, and its bytes to and from a socket."""

    def __init__(self, host: Host, inner: socket.socket) -> None:
        self._host, self._inner = host, inner
        self._inner.setblocking(False)
        self.complaints = Kept()
        self.status: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._connection: Any = None

    async def connect(self) -> None:
        user, name, port = parts(self._host.ssh)
        options: dict[str, Any] = {"username": user} if user else {}
        options |= {"port": int(port)} if port else {}
        options |= (
            {"client_keys": [str(Path(self._host.identity_file).expanduser())]} if self._host.identity_file else {}
        )
        options |= {"known_hosts": str(Path(self._host.known_hosts).expanduser())} if self._host.known_hosts else {}
        self._connection = await asyncssh.connect(
            name, connect_timeout=CONNECT_S, login_timeout=CONNECT_S, agent_forwarding=False, **options
        )
        self._keep_alive()
        session = await self._connection.create_process(start_command(self._host), encoding=None)
        for work in (self._send(session), self._receive(session), self._complain(session)):
            task = asyncio.get_running_loop().create_task(work)
            self._tasks.add(task)

    def _keep_alive(self) -> None:
        """By the kernel, which wakes nobody; by SSH where another host lies between, or nothing is set of a socket."""
        sock = self._connection.get_extra_info("socket")
        if sock is None or self._connection._tunnel is not None or not hasattr(socket, "TCP_KEEPIDLE"):
            self._connection.set_keepalive(KEPT_ALIVE_S, KEPT_ALIVE_COUNT)
            return
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for name, value in KEEPALIVE.items():
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS)

    async def _send(self, session: Any) -> None:
        loop = asyncio.get_running_loop()
        with suppress(OSError, asyncssh.Error):
            while data := await loop.sock_recv(self._inner, PUMP_BYTES):
                session.stdin.write(data)
                await session.stdin.drain()
            session.stdin.write_eof()

    async def _receive(self, session: Any) -> None:
        loop = asyncio.get_running_loop()
        with suppress(OSError, asyncssh.Error):
            while data := await session.stdout.read(PUMP_BYTES):
                await loop.sock_sendall(self._inner, data)
            await session.wait_closed()
        self.status = session.exit_status
        with suppress(OSError):
            self._inner.shutdown(socket.SHUT_RDWR)

    async def _complain(self, session: Any) -> None:
        with suppress(OSError, asyncssh.Error):
            while data := await session.stderr.read(PUMP_BYTES):
                self.complaints.add(data)

    async def end(self) -> None:
        """At once, whatever is under way."""
        for task in self._tasks:
            task.cancel()
        if self._connection is not None:
            self._connection.abort()
            await self._connection.wait_closed()
        self._inner.close()


def _why(error: Exception) -> Message:
    if isinstance(error, TimeoutError) and not str(error):
        return message("nothing came for {wait_s:.0f} s", wait_s=CONNECT_S)
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return message(
            "its host key is not the one of known_hosts, or not there ({error}). Make sure that it is the right host, "
            "then put the key there: ssh-keyscan HOST >> ~/.ssh/known_hosts",
            error=for_terminal(str(error)),
        )
    if isinstance(error, asyncssh.PermissionDenied):
        return message("it refused the login: {error}", error=for_terminal(str(error)))
    return verbatim(for_terminal(str(error)) or type(error).__name__)
