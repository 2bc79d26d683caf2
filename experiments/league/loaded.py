"""What a server's command loads: applications that report to the service child over a Unix socket.

The child says `state` or `reset` in a line; the answer is a line of JSON. At end of file the child has gone, and so
go the worker and its server. The thread that listens is asleep all the while that is timed.
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
    """The WSGI application."""
    from experiments.league.http_answer import wsgi_app

    return wsgi_app(_reported())


def make_flask() -> "WSGIApplication":
    """The Flask application."""
    from experiments.league.flask_app import flask_app

    return flask_app(_reported())


def make_asgi() -> "AsgiApp":
    """The ASGI application."""
    from experiments.league.http_answer import asgi_app

    return asgi_app(_reported())


def _reported() -> Counts:
    """Counts that the service child can ask for."""
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
