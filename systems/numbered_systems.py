"""Declare systems 1 to 4, gilscope's own services.

core.system.System explains the fields, and systems/__init__.py finds SYSTEMS. Services and clients
are named as "module:function" or "module:class", so that only the children that need them import
them. `reads` has the parameters beside System.common; another one gives the cells of the system new
ids.
"""

from functools import partial

from core.messages import message
from core.system import FRAMED, FRESH, NATIVE_CLIENT, Program, System

_system = partial(System, supports_hosts=True)
_framed = partial(_system, message="clients.channel:framed_message")

SYSTEMS = (
    _framed(  # a service with a single socket, and a new connection for every request
        number="1",
        name="fresh",
        title=message("Single socket, no connection cache"),
        reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
        service="services.threaded:FreshService",
        caller="clients.callers:fresh_caller",
        native_service=Program(name="calc-service", arguments=("--child", "--fresh")),
        native_client=FRESH,
        request_cpu_us=110,
    ),
    _framed(  # a service with a single socket and a cache of connections, which clients may reuse
        number="2",
        name="cached",
        title=message("Single socket, connection cache"),
        reads=(
            "NUM_WORKERS_PER_API_SERVICE",
            "NUM_MAX_CONNS",
            "REUSE_CLIENT",
            "SELECTOR",
            "DISPATCH",
            "TRANSPORT",
        ),
        service="services.threaded:CachedService",
        caller="clients.callers:framed_caller",
        native_service=Program(name="calc-service", arguments=("--child",)),
        native_client=FRAMED,
        request_cpu_us=65,
    ),
    _system(  # a Tornado service on TCP, and clients that keep their connections alive
        number="3",
        name="tornado",
        title=message("Tornado"),
        service="services.tornado_app:tornado_service",
        caller="clients.callers:http_caller",
        message="clients.channel:http_message",
        native_client=NATIVE_CLIENT,
        request_cpu_us=400,
        requirements="requirements/tornado.txt",
    ),
    _framed(  # a service with several sockets, one cache of connections and one pool of workers
        number="4",
        name="pool",
        title=message("Several sockets, connection cache"),
        reads=(
            "NUM_WORKERS_PER_API_SERVICE",
            "NUM_MULTI_SOCKET",
            "NUM_MAX_CONNS",
            "SELECT_MODE",
            "CLIENT_BINDING",
            "SELECTOR",
            "DISPATCH",
            "TRANSPORT",
        ),
        service="services.threaded:CachedService",
        caller="clients.callers:pool_caller",
        native_service=Program(name="calc-service", arguments=("--child",)),
        native_client=FRAMED,
        request_cpu_us=70,
    ),
)
