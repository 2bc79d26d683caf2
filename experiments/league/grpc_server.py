"""gRPC: a unary method on a ThreadPoolExecutor of NUM_WORKERS_PER_API_SERVICE threads; messages are our JSON as bytes.

A generic handler without serializers: what is compared is the server, not protocol buffers.
Source: grpc.github.io/grpc/python/grpc.html
"""

from concurrent.futures import ThreadPoolExecutor

import grpc

from core.cell import Cell
from core.work import answer
from experiments.league.hosted import BoundAddress, Counts, HostedService, tcp_address, unix_path
from services.listeners import LOOPBACK

SERVICE, METHOD = "gilscope.Calculator", "Answer"


def grpc_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """The service of *cell*, listening on a Unix socket or on a free port of the loopback interface."""
    counts, path = Counts(), unix_path(cell, service_id, folder)

    def reply(request: bytes, context: grpc.ServicerContext) -> bytes:
        answered = answer(request)
        counts.add()
        return answered

    server = grpc.server(ThreadPoolExecutor(max_workers=cell.num_workers_per_api_service))
    handlers = {METHOD: grpc.unary_unary_rpc_method_handler(reply)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    port = server.add_insecure_port(f"unix:{path}" if path else f"{LOOPBACK}:0")
    server.start()  # it accepts from now on: a call that comes early is answered, not refused
    return HostedService(BoundAddress(path or tcp_address(port)), server.wait_for_termination, counts)
