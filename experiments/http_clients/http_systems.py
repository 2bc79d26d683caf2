"""Declare HTTP clients that call one fast server, native/axum-server. Two of them are programs:
native/http-*.

systems/__init__.py finds SYSTEMS, and core.system.System explains the fields. Here the service is
the same in all systems, and the client is what is compared. The names begin with `http-`, as the
file's name does. To add a library, add a file with its client() and an entry here.
"""

from functools import partial
from typing import Any

from core.messages import Message, message
from core.system import SIZES, Extension, Program, System


def _client(
    name: str, title: Message, request_cpu_us: int, client: str = "", packages: str = "", **how: Any
) -> System:
    """Return a System: an HTTP client that is measured, and the server native/axum-server, which it
    calls.

    client: its function in this folder
    packages: name of its file in requirements
    """
    return System(
        name=name,
        title=title,
        group="http-clients",
        common=SIZES,
        reads=("NUM_CONNECTIONS_PER_CLIENT", "DELAY_US", "NUM_SERVER_THREADS"),
        client=f"experiments.http_clients.{client}" if client else None,
        native_service=Program(name="axum-server", arguments=("--child",)),
        requirements=packages and f"requirements/{packages}.txt",
        request_cpu_us=request_cpu_us,
        **how,
    )


_beast_client = Extension(
    name="beastclient",
    tools=("c++",),
    borrowed=(
        "http-beast/client.cpp",
        "http-beast/client.hpp",
        "http-beast/clock.hpp",
        "http-beast/socket.hpp",
    ),
)
_beast = partial(_client, extensions=(_beast_client,))
_reqwest = partial(_client, extensions=(Extension(name="reqwestclient", tools=("cargo",)),))

SYSTEMS = (
    _client("http-aiohttp", message("Python aiohttp"), 250, "aiohttp:client", "aiohttp"),
    _client(
        "http-requests", message("Python library requests"), 600, "requests:client", "requests"
    ),
    _client("http-stdlib", message("Python http.client"), 150, "stdlib:client"),
    _beast(
        "http-beast-held",
        message("Python with Boost.Beast (GIL held during I/O)"),
        60,
        "threads:held",
    ),
    _beast(
        "http-beast-released",
        message("Python with Boost.Beast (GIL released during I/O)"),
        60,
        "threads:released",
    ),
    _beast(  # undeclared: the extension does not declare support for free-threading
        "http-beast-undeclared",
        message("Python with Boost.Beast (GIL turned on, held in I/O)"),
        60,
        "threads:undeclared",
        turns_gil_on=True,
    ),
    _beast(
        "http-beast-undeclared-released",
        message("Python with Boost.Beast (GIL turned on, released in I/O)"),
        60,
        "threads:undeclared_released",
        turns_gil_on=True,
    ),
    _reqwest("http-pyreqwest", message("Python with reqwest (blocking)"), 150, "pyreqwest:client"),
    _reqwest(
        "http-pyreqwest-async",
        message("Python with reqwest (asyncio)"),
        250,
        "pyreqwest:async_client",
    ),
    _client(
        "http-beast-native",
        message("C++ Beast"),
        40,
        native_client=Program(name="http-beast", arguments=("--child",), builder="cmake"),
    ),
    _client(
        "http-reqwest-native",
        message("Rust reqwest"),
        60,
        native_client=Program(name="http-reqwest", arguments=("--child",)),
    ),
)
