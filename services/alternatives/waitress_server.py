"""Waitress: one main loop that reads and writes, and NUM_WORKERS_PER_API_SERVICE threads that run the application.

`threads` is its documented setting for that. Its warning that requests wait for a thread is switched off, as its
documentation shows: a load generator is meant to make them wait.
Source: docs.pylonsproject.org/projects/waitress/en/stable/arguments.html
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import waitress

from core.cell import Cell
from services.alternatives.counts import Counts
from services.alternatives.hosted import HostedService
from services.alternatives.wsgi_app import wsgi_app
from services.listeners import listen_tcp

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


def wsgi_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """The plain WSGI application."""
    return _service(cell, wsgi_app)


def flask_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """The Flask application."""
    from services.alternatives.flask_app import flask_app

    return _service(cell, flask_app)


def _service(cell: Cell, make_app: Callable[[Counts], "WSGIApplication"]) -> HostedService:
    """make_app: makes an application that counts what it answers"""
    listener, counts = listen_tcp(), Counts()
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    server = waitress.create_server(make_app(counts), sockets=[listener.sock], threads=cell.num_workers_per_api_service)
    return HostedService(listener, server.run, counts)
