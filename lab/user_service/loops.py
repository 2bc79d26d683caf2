"""Runs an ASGI application on several processes with several event loops each. Every loop has its own thread.

Usage: `PYTHON loops.py PROCESSES LOOPS SERVER OPTIONS...`, where OPTIONS are those of the server's own command.
With one loop per process, this is the server's own command. With more loops, each loop runs the server through its
documented programmatic API, with its own lifespan. The loops get connections in turn
(docs/decisions/023-event-loops.md). The main thread handles signals.
The measured Python runs this file as a script, so it imports only the standard library and the server.
"""

import argparse
import asyncio
import importlib
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import cycle
from typing import Any

TURN_S = 0.05
BACKLOG = 2048

Serve = Callable[[argparse.Namespace, threading.Event], Coroutine[Any, Any, None]]


class ListenerStub:
    """A dummy listener for a server whose event loop gets its connections from the accepting thread."""

    sockets = ()

    def close(self) -> None:
        """Do nothing, because the accepting thread ends with the process."""

    async def wait_closed(self) -> None:
        """Return at once, because this dummy listener has no socket that must be closed."""


def make_loop_type(base: Any) -> Any:
    """Return a subclass of the event loop *base* that does not listen: accept() gives it connections."""

    class HandedLoop(base):  # type: ignore[misc]
        protocol: Any = None

        async def create_server(self, protocol_factory: Any, *args: Any, **options: Any) -> ListenerStub:
            self.protocol = protocol_factory
            return ListenerStub()

        def accept(self, connection: socket.socket) -> None:
            self.create_task(self.connect_accepted_socket(self.protocol, connection))

    return HandedLoop


async def wait_for_stop(stopping: threading.Event) -> None:
    """Wait until the main thread has been asked to stop."""
    while not stopping.is_set():
        await asyncio.sleep(TURN_S)


async def uvicorn(options: argparse.Namespace, stopping: threading.Event) -> None:
    """Serve with uvicorn. Source: https://www.uvicorn.org/#uvicornserver."""
    package = importlib.import_module("uvicorn")
    server = package.Server(
        package.Config(options.app, factory=options.factory, access_log=False, log_level=options.log_level)
    )

    async def stop() -> None:
        await wait_for_stop(stopping)
        server.should_exit = True

    stopped = asyncio.ensure_future(stop())
    await server.serve(sockets=[socket.socket()])  # a placeholder socket; the loop provides connections
    stopped.cancel()


async def hypercorn(options: argparse.Namespace, stopping: threading.Event) -> None:
    """Serve with hypercorn. Source: https://hypercorn.readthedocs.io/en/latest/how_to_guides/api_usage.html."""
    config = importlib.import_module("hypercorn.config").Config()
    config.bind, config.loglevel = [f"fd://{socket.socket().detach()}"], options.log_level
    app = importlib.import_module("hypercorn.utils").load_application(options.app, config.wsgi_max_body_size)
    worker = importlib.import_module("hypercorn.asyncio.run").worker_serve
    await worker(app, config, shutdown_trigger=lambda: wait_for_stop(stopping))


async def granian(options: argparse.Namespace, stopping: threading.Event) -> None:
    """Serve with granian, whose loops each listen with SO_REUSEPORT.

    Source: https://github.com/emmett-framework/granian#embedding-granian.
    """
    embed = importlib.import_module("granian.server.embed")
    app = importlib.import_module("granian._internal").load_target(options.app, factory=options.factory)
    names = {"address": options.host, "port": options.port, "interface": "asgi", "log_level": options.log_level}
    server = embed.Server(app, **names, websockets=False)
    serving = asyncio.ensure_future(server.serve())
    await asyncio.wait({serving, asyncio.ensure_future(wait_for_stop(stopping))}, return_when=asyncio.FIRST_COMPLETED)
    server.stop()
    await serving


SERVERS: dict[str, Serve] = {"uvicorn": uvicorn, "hypercorn": hypercorn, "granian": granian}


class EventLoopServer:
    """Event loops of this process that serve until a signal asks them to end, or one of them fails."""

    def __init__(self, serve: Serve, count: int, base: Any, options: argparse.Namespace) -> None:
        self._serve, self._options, self._failure = serve, options, ""
        self._stopping = threading.Event()
        self._loops = [make_loop_type(base)() for _ in range(count)]
        self._listener = socket.socket(socket.AF_INET6 if ":" in options.host else socket.AF_INET)
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            self._listener.setsockopt(socket.SOL_SOCKET, option, 1)
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # accepted connections inherit it

    def run(self) -> int:
        """Serve until a signal or a failure. Return the exit status: 0 after SIGTERM or SIGINT, 1 if a loop failed."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._stopping.set())
        if self._serve is not granian:
            self._listener.bind((self._options.host, self._options.port))
        threads = [threading.Thread(target=self._run, args=(loop,), name="event loop") for loop in self._loops]
        for thread in threads:
            thread.start()
        if self._serve is not granian:
            threading.Thread(target=self._guarded, args=(self._accept,), daemon=True).start()
        for thread in threads:
            thread.join()
        if self._failure:
            print(self._failure, file=sys.stderr)
        return 1 if self._failure else 0

    def _run(self, loop: Any) -> None:
        def serve() -> None:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:  # the runner cancels remaining tasks
                runner.run(self._serve(self._options, self._stopping))

        self._guarded(serve)

    def _guarded(self, call: Callable[[], object]) -> None:
        """Run *call*, and stop all event loops when it returns or fails."""
        try:
            call()
        except BaseException as error:  # includes SystemExit after a failed lifespan
            self._failure = f"An event loop ended: {error!r}"
        self._stopping.set()

    def _accept(self) -> None:
        """Accept connections once every loop is ready, and give them to the loops in turn."""
        while not all(loop.protocol for loop in self._loops):
            if self._stopping.wait(TURN_S):
                return
        self._listener.listen(BACKLOG)
        for loop in cycle(self._loops):
            connection, _ = self._listener.accept()
            connection.setblocking(False)
            loop.call_soon_threadsafe(loop.accept, connection)


def parse_options(arguments: list[str]) -> argparse.Namespace:
    """Parse the server's options that this program needs."""
    parser = argparse.ArgumentParser()
    for flag in ("--host", "--log-level", "--bind"):
        parser.add_argument(flag, default="")
    parser.add_argument("--port", type=int)
    parser.add_argument("--factory", action="store_true")
    options = parser.parse_known_args(arguments)[0]
    if options.bind:
        options.host, _, port = options.bind.rpartition(":")
        options.port = int(port)
    options.app = arguments[-1]
    return options


def main() -> int:
    """Run the server as the command line says, and return the exit status."""
    processes, loops, server, arguments = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    sys.path.insert(0, os.getcwd())
    has_thread_workers = server == "granian" and bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    if processes > 1 and (loops > 1 or has_thread_workers):
        return supervise([[sys.executable, __file__, "1", str(loops), *sys.argv[3:]] for _ in range(processes)])
    if loops == 1 or has_thread_workers:
        workers = ["--workers", str(max(processes, loops))]
        os.execv(sys.executable, [sys.executable, "-m", server, *arguments[:-1], *workers, arguments[-1]])
    base: Any = asyncio.SelectorEventLoop
    if server != "hypercorn":  # hypercorn's own default is asyncio
        with suppress(ImportError):
            base = importlib.import_module("uvloop").Loop
    return EventLoopServer(SERVERS[server], loops, base, parse_options(arguments)).run()


def supervise(commands: list[list[str]]) -> int:
    """Run processes that share a port by SO_REUSEPORT. End all of them when one ends, or at SIGTERM or SIGINT."""
    children = [subprocess.Popen(command) for command in commands]

    def stop(*_: object) -> None:
        for child in children:
            child.terminate()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    stop()
    return max(child.wait() for child in children)


if __name__ == "__main__":
    sys.exit(main())
