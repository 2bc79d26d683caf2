"""Services and a client with Pyro5: one exposed object in a daemon, with Pyro's default serializer (serpent).

Pyro has two server types. `thread` is a pool of at most NUM_WORKERS_PER_API_SERVICE threads, each of which serves one
connection until its end; further connections are refused. `multiplex` is one thread with a selector. Requests and
answers are text, because serpent does not handle bytes well. The client has a proxy of the object.
Sources: pyro5.readthedocs.io/en/latest/servercode.html and clientcode.html
"""

from functools import partial
from typing import Any, cast

import Pyro5.api
import Pyro5.errors

from clients.callers import cached_caller
from clients.channel import CallFailed
from core.cell import Cell
from core.work import answer
from experiments.league.hosted import Counts, HostedService, bound, unix_path
from services.listeners import LOOPBACK

OBJECT = "calculator"


def _service(server_type: str, cell: Cell, service_id: int, folder: str) -> HostedService:
    path = unix_path(cell, service_id, folder)
    config: Any = Pyro5.api.config
    config.SERVERTYPE = server_type
    config.SOCK_NODELAY = not path
    config.THREADPOOL_SIZE = config.THREADPOOL_SIZE_MIN = cell.num_workers_per_api_service
    counts = Counts()

    @Pyro5.api.expose
    class Calculator:
        def answer(self, request: str) -> str:
            reply = answer(request.encode()).decode()
            counts.add()
            return reply

    daemon = Pyro5.api.Daemon(unixsocket=path) if path else Pyro5.api.Daemon(host=LOOPBACK, port=0)
    daemon.register(Calculator(), objectId=OBJECT)
    port = 0 if path else int(daemon.locationStr.rpartition(":")[2])
    return HostedService(bound(path, port), daemon.requestLoop, counts)


thread_service = partial(_service, "thread")
multiplex_service = partial(_service, "multiplex")


class PyroChannel:
    """A client's connection to the service, by a Pyro proxy.

    Pyro allows only the thread that owns a proxy to use it, so a thread makes itself the owner before each use.
    """

    def __init__(self, address: str) -> None:
        place = f"./u:{address}" if address.startswith("/") else address
        Pyro5.api.config.SOCK_NODELAY = not address.startswith("/")
        self._proxy = Pyro5.api.Proxy(f"PYRO:{OBJECT}@{place}")
        try:
            self._proxy._pyroBind()
        except Pyro5.errors.PyroError as error:
            raise CallFailed("connect") from error

    def ask(self, message: bytes) -> bytes:
        """Call the service's method `answer`. Raises CallFailed."""
        self._proxy._pyroClaimOwnership()
        try:
            return cast(str, self._proxy.answer(message.decode())).encode()
        except Pyro5.errors.CommunicationError as error:
            raise CallFailed("closed") from error
        except Exception as error:  # an exception of the service is raised here with its own type
            raise CallFailed("garbled") from error

    def close(self) -> None:
        """Close the connection."""
        self._proxy._pyroClaimOwnership()
        self._proxy._pyroRelease()


caller = cached_caller(PyroChannel)
