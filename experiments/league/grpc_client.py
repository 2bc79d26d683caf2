"""A client of gRPC: a channel and its unary method. Source: grpc.github.io/grpc/python/grpc.html"""

from typing import cast

import grpc

from clients.callers import kept
from clients.channel import CallFailed

METHOD = "/gilscope.Calculator/Answer"
CONNECT_DEADLINE_S = 10.0


class GrpcChannel:
    """One channel with a connection of its own: channels to one address would share theirs."""

    def __init__(self, address: str) -> None:
        target = f"unix:{address}" if address.startswith("/") else address
        self._channel = grpc.insecure_channel(target, options=(("grpc.use_local_subchannel_pool", 1),))
        try:
            grpc.channel_ready_future(self._channel).result(CONNECT_DEADLINE_S)
        except grpc.FutureTimeoutError as error:
            raise CallFailed("connect") from error
        self._answer = self._channel.unary_unary(METHOD)

    def ask(self, message: bytes) -> bytes:
        """Call the method. Raises CallFailed."""
        try:
            return cast(bytes, self._answer(message))
        except grpc.RpcError as error:
            raise CallFailed("closed") from error

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()


caller = kept(GrpcChannel)
