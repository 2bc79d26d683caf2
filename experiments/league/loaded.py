"""Applications that a server's command loads. They report their counts to the service child over a Unix socket.

The child sends `state` or `reset` in a line, and gets a line of JSON. The end of file means that the child has ended,
so the worker and its server end, too. The reporting thread sleeps during the timed window.
"""

import json
import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from core.child import run_queue_ns
from core.runtime import states
from experiments.league.hosted import Counts
from experiments.league.launch import SERVER_PID_VARIABLE

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

    from experiments.league.http_answer import AsgiApp

CONTROL_VARIABLE = "GILSCOPE_CONTROL"
STATE, RESET = "state", "reset"


def make_wsgi() -> "WSGIApplication":
    """Return the WSGI application."""
    from experiments.league.http_answer import wsgi_app

    return wsgi_app(_reported())


def make_flask() -> "WSGIApplication":
    """Return the Flask application."""
    from experiments.league.flask_app import flask_app

    return flask_app(_reported())


def make_asgi() -> "AsgiApp":
    """Return the ASGI application."""
    from experiments.league.http_answer import asgi_app

    return asgi_app(_reported())


def _reported() -> Counts:
    """Return counts, and start the thread that reports them to the service child."""
    counts = Counts()
    control = socket.socket(socket.AF_UNIX)
    try:
        control.connect(os.environ[CONTROL_VARIABLE])
    except OSError:
        _end()
    _say(control, counts)
    threading.Thread(target=_report, args=(control, counts), name="control", daemon=True).start()
    return counts


def _report(control: socket.socket, counts: Counts) -> None:
    words: dict[str, Callable[[], None]] = {STATE: lambda: None, RESET: counts.reset}
    with suppress(OSError), control.makefile("r", encoding="ascii") as lines:
        for line in lines:
            words[line.strip()]()
            _say(control, counts)
    _end()


def _say(control: socket.socket, counts: Counts) -> None:
    state: dict[str, Any] = {
        "pid": os.getpid(),
        "requests": counts.requests,
        **states(),
        "run_queue_ns": run_queue_ns(),
    }
    control.sendall(json.dumps(state).encode() + b"\n")


def _end() -> NoReturn:
    server = int(os.environ[SERVER_PID_VARIABLE])
    if server != os.getpid():
        with suppress(ProcessLookupError):
            os.kill(server, signal.SIGKILL)
    os._exit(0)
