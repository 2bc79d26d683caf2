"""Waitress: one main loop that reads and writes, and NUM_WORKERS_PER_API_SERVICE threads that run the application.

`threads` is its documented setting for that. Its warning that requests wait for a thread is switched off, as its
documentation shows: a load generator is meant to make them wait.
Source: docs.pylonsproject.org/projects/waitress/en/stable/arguments.html
"""

import logging
from typing import TYPE_CHECKING

import waitress

from services.alternatives.counts import Counts
from services.alternatives.hosted import HostedService
from services.listeners import Listener

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


def waitress_service(listener: Listener, workers: int, app: "WSGIApplication", counts: Counts) -> HostedService:
    """The service on *listener*; *app* counts into *counts*."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    server = waitress.create_server(app, sockets=[listener.sock], threads=workers)
    return HostedService(listener, server.run, counts)
