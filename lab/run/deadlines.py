"""Compute how long the orchestrator waits for the services and clients of a measurement (cell).

The deadlines are generous, so they end only measurements that hang.
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

from core.cell import Cell
from core.method import Method
from core.request_plan import ANSWER_DEADLINE_S
from core.system import System

START_DEADLINE_S = 60.0
FLOOR_S = 60.0
SLOWEST_REQUEST_S = 0.01  # upper bound of a request's latency under our own services, without its calculation
SLOWEST_COUNT_S = 1e-6  # upper bound of one step of the calculation


def starting_s(cell_line: Mapping[str, Any]) -> float:
    """Return how long to wait until children are ready, in s. A user's service adds its own start deadline.

    cell_line: the first line of the children's stdin
    """
    own = cell_line.get("own", {})
    return START_DEADLINE_S + float(own.get("start_deadline_s", 0.0))


def calling_s(cell: Cell, system: System, method: Method) -> float:
    """Return how long to wait for the clients' results after the clients are told to send, in s."""
    timed_s = FLOOR_S + method.duration_s + method.warmup.seconds
    if system.user_service:
        return timed_s + _user_service_s(cell, system.child_config["own"], counted=not method.duration_s)
    timed_s += 0.0 if method.duration_s else cell.paced_s
    return timed_s + cell.requests * (SLOWEST_REQUEST_S + cell.calc_target * SLOWEST_COUNT_S)


def _user_service_s(cell: Cell, own: Mapping[str, Any], *, counted: bool) -> float:
    """Return how long a client of a user's service can take in s, if every answer arrives just before its deadline.

    counted: whether the client sends a fixed number of requests; if not, this is the time after the duration's end
    """
    connections = cell.num_connections_per_client
    requests = cell.num_requests_per_client * cell.num_api_services if counted else connections
    each_s = ANSWER_DEADLINE_S + float(own["requests"]["think_time_s"])
    return ceil(requests / connections) * each_s + (cell.paced_s if counted else 0.0)
