"""A gRPC service without generated code: messages are plain bytes. Usage: server.py PORT THREADS"""

import sys
from concurrent.futures import ThreadPoolExecutor

import grpc


def fib(number):
    return number if number < 2 else fib(number - 1) + fib(number - 2)


def compute(request, context):
    return b"%d" % fib(12) + b";" + request[:8]


def broken(request, context):
    context.abort(grpc.StatusCode.INTERNAL, "no such shard")


server = grpc.server(ThreadPoolExecutor(int(sys.argv[2])))
server.add_generic_rpc_handlers(
    [
        grpc.method_handlers_generic_handler(
            "demo.Fib",
            {
                "Compute": grpc.unary_unary_rpc_method_handler(compute),
                "Broken": grpc.unary_unary_rpc_method_handler(broken),
            },
        )
    ]
)
server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
server.start()
server.wait_for_termination()
