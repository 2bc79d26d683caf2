"""Waitress: one main loop that reads and writes, and NUM_WORKERS_PER_API_SERVICE threads that run the application.

`threads` is its documented setting for that. Its warning that requests wait for a thread is switched off, as its
documentation shows: a load generator is meant to make them wait.
Source: docs.pylonsproject.org/projects/waitress/en/stable/arguments.html
"""

import logging

import waitress

from core.cell import Cell
from experiments.league.hosted import Counts, HostedService
from experiments.league.http_answer import MakeWsgiApp, wsgi_app
from services.listeners import listen_tcp


def wsgi_service(cell: Cell, service_id: int, folder: str, make_app: MakeWsgiApp = wsgi_app) -> HostedService:
    """Return the service of *cell*, listening. make_app: makes an application that counts what it answers"""
    listener, counts = listen_tcp(), Counts()
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    server = waitress.create_server(make_app(counts), sockets=[listener.sock], threads=cell.num_workers_per_api_service)
    return HostedService(listener, server.run, counts)


def flask_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service of *cell* with the Flask application."""
    from experiments.league.flask_app import flask_app

    return wsgi_service(cell, service_id, folder, flask_app)
