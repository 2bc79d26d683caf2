"""Gunicorn: one worker of the class gthread with NUM_WORKERS_PER_API_SERVICE threads, on a socket that it inherits.

`gthread` is its documented class for threads. --keep-alive is above the time that clients may need to start (2 s
otherwise, 75 is what it documents for a server behind a proxy), --worker-tmp-dir is in memory, as its FAQ advises.
It always forks: the master and the worker are children of the service child.
Source: docs.gunicorn.org/en/stable/settings.html, docs.gunicorn.org/en/stable/faq.html
"""

import os
from functools import partial

from core.cell import Cell
from experiments.league.commanded import CommandedService
from experiments.league.http_answer import IDLE_S
from services.listeners import BACKLOG, listen_tcp

MEMORY_FOLDER = "/dev/shm"


def _service(factory: str, cell: Cell, service_id: int, folder: str) -> CommandedService:
    """Return the service of *cell*. factory: the function of experiments.league.loaded that makes the application"""
    listener, threads = listen_tcp(), cell.num_workers_per_api_service
    memory = ["--worker-tmp-dir", MEMORY_FOLDER] if os.path.isdir(MEMORY_FOLDER) else []
    arguments = [
        "gunicorn",
        *("--bind", f"fd://{listener.sock.fileno()}", "--backlog", str(BACKLOG)),
        *("--worker-class", "gthread", "--workers", "1", "--threads", str(threads)),
        *("--keep-alive", str(IDLE_S), "--log-level", "error", "--no-control-socket"),
        *memory,
        f"experiments.league.loaded:{factory}()",
    ]
    port = int(listener.address.rpartition(":")[2])
    return CommandedService(arguments, port, folder, listener.sock)


wsgi_service = partial(_service, "make_wsgi")
flask_service = partial(_service, "make_flask")
