"""A service and client with gRPC: a unary method on a ThreadPoolExecutor of NUM_WORKERS_PER_API_SERVICE threads.

Messages are gilscope's JSON as bytes. There are no serializers, because the experiment compares servers and not
protocol buffers. The client has a channel and its unary method. Source: grpc.github.io/grpc/python/grpc.html
"""

from concurrent.futures import ThreadPoolExecutor
from typing import cast

import grpc

from clients.callers import cached_caller
from clients.channel import CallFailed
from core.cell import Cell
from core.work import answer
from experiments.league.hosted import Counts, HostedService, bound, unix_path
from services.listeners import LOOPBACK

SERVICE, METHOD = "gilscope.Calculator", "Answer"
CONNECT_DEADLINE_S = 10.0


def grpc_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service for the measurement *cell*. It listens on a Unix socket or on a free loopback port."""
    counts, path = Counts(), unix_path(cell, service_id, folder)

    def reply(request: bytes, context: grpc.ServicerContext) -> bytes:
        answered = answer(request)
        counts.add()
        return answered

    server = grpc.server(ThreadPoolExecutor(max_workers=cell.num_workers_per_api_service))
    handlers = {METHOD: grpc.unary_unary_rpc_method_handler(reply)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    port = server.add_insecure_port(f"unix:{path}" if path else f"{LOOPBACK}:0")
    server.start()  # early calls are answered from now on
    return HostedService(bound(path, port), server.wait_for_termination, counts)


class GrpcChannel:
    """A channel with its own connection. Without a local pool, channels to one address would share a connection."""

    def __init__(self, address: str) -> None:
        target = f"unix:{address}" if address.startswith("/") else address
        self._channel = grpc.insecure_channel(target, options=(("grpc.use_local_subchannel_pool", 1),))
        try:
            grpc.channel_ready_future(self._channel).result(CONNECT_DEADLINE_S)
        except grpc.FutureTimeoutError as error:
            raise CallFailed("connect") from error
        self._answer = self._channel.unary_unary(f"/{SERVICE}/{METHOD}")

    def ask(self, message: bytes) -> bytes:
        """Call the gRPC method with *message*, and return the answer. Raises CallFailed."""
        try:
            return cast(bytes, self._answer(message))
        except grpc.RpcError as error:
            raise CallFailed("closed") from error

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()


caller = cached_caller(GrpcChannel)
