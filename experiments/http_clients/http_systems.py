"""HTTP clients against one fast server, native/axum-server. Two of the clients are programs: native/http-*."""

from functools import partial

from core.messages import message
from core.system import SIZES, Extension, Program, System

_client = partial(
    System,
    group="http-clients",
    common=SIZES,
    reads=("NUM_CONNECTIONS_PER_CLIENT", "DELAY_US", "NUM_SERVER_THREADS"),
    native_service=Program(name="axum-server", arguments=("--child",)),
)
_beast_client = Extension(
    name="beastclient",
    tools=("c++",),
    borrowed=tuple(f"http-beast/{name}" for name in ("client.cpp", "client.hpp", "clock.hpp", "socket.hpp")),
)
_beast = partial(_client, extensions=(_beast_client,), request_cpu_us=60)
_reqwest = partial(_client, extensions=(Extension(name="reqwestclient", tools=("cargo",)),))

SYSTEMS = (
    _client(
        name="http-aiohttp",
        title=message("Python aiohttp"),
        client="experiments.http_clients.aiohttp:client",
        requirements="requirements/aiohttp.txt",
        request_cpu_us=250,
    ),
    _client(
        name="http-httpx",
        title=message("Python httpx"),
        client="experiments.http_clients.httpx:client",
        requirements="requirements/httpx.txt",
        request_cpu_us=600,
    ),
    _client(
        name="http-httpx-async",
        title=message("Python httpx (asyncio)"),
        client="experiments.http_clients.httpx:async_client",
        requirements="requirements/httpx.txt",
        request_cpu_us=800,
    ),
    _client(
        name="http-requests",
        title=message("Python requests"),
        client="experiments.http_clients.requests:client",
        requirements="requirements/requests.txt",
        request_cpu_us=600,
    ),
    _client(
        name="http-stdlib",
        title=message("Python http.client"),
        client="experiments.http_clients.stdlib:client",
        request_cpu_us=150,
    ),
    _beast(
        name="http-beast-held",
        title=message("Python over Beast (GIL held)"),
        client="experiments.http_clients.beast:held",
    ),
    _beast(
        name="http-beast-released",
        title=message("Python over Beast (GIL released)"),
        client="experiments.http_clients.beast:released",
    ),
    _beast(  # undeclared: the extension does not declare that it can do without the GIL
        name="http-beast-undeclared",
        title=message("Python over Beast (GIL held, undeclared)"),
        client="experiments.http_clients.beast:undeclared",
        turns_gil_on=True,
    ),
    _beast(
        name="http-beast-undeclared-released",
        title=message("Python over Beast (GIL released, undeclared)"),
        client="experiments.http_clients.beast:undeclared_released",
        turns_gil_on=True,
    ),
    _reqwest(
        name="http-pyreqwest",
        title=message("Python over reqwest (blocking)"),
        client="experiments.http_clients.pyreqwest:client",
        request_cpu_us=150,
    ),
    _reqwest(
        name="http-pyreqwest-async",
        title=message("Python over reqwest (asyncio)"),
        client="experiments.http_clients.pyreqwest:async_client",
        request_cpu_us=250,
    ),
    _client(
        name="http-beast-native",
        title=message("C++ Beast"),
        native_client=Program(name="http-beast", arguments=("--child",), builder="cmake"),
        request_cpu_us=40,
    ),
    _client(
        name="http-reqwest-native",
        title=message("Rust reqwest"),
        native_client=Program(name="http-reqwest", arguments=("--child",)),
        request_cpu_us=60,
    ),
)
