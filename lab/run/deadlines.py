"""How long the orchestrator waits for the children of a cell: generously, for it is to catch what hangs."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from core.cell import Cell
from core.method import Method
from core.request_plan import ANSWER_DEADLINE_S
from core.system import System

START_DEADLINE_S = 60.0
FLOOR_S = 60.0
SLOWEST_REQUEST_S = 0.01  # no service of ours that works is slower than this, beside its calculation
SLOWEST_COUNT_S = 1e-6


def starting_s(cell_line: Mapping[str, Any]) -> float:
    """Until children are ready. cell_line: their first line of stdin; a user's service has a start deadline too."""
    own = cell_line.get("own", {})
    return START_DEADLINE_S + float(own.get("start_deadline_s", 0.0))


def calling_s(cell: Cell, system: System, method: Method) -> float:
    """Until the clients have said their results, from their release, in s."""
    timed_s = FLOOR_S + method.duration_s + method.warmup.seconds
    if system.hosted:
        return timed_s + _user_service_s(cell, system.child_config["own"], counted=not method.duration_s)
    timed_s += 0.0 if method.duration_s else cell.paced_s
    return timed_s + cell.requests * (SLOWEST_REQUEST_S + cell.calc_target * SLOWEST_COUNT_S)


def _user_service_s(cell: Cell, own: Mapping[str, Any], *, counted: bool) -> float:
    """The longest that a client of a user's service may take: each answer as late as it may be (clients.user_service).

    counted: whether it has so many requests to send; else this is what may come after the end of the duration.
    """
    connections = cell.num_connections_per_client
    requests = cell.num_requests_per_client * cell.num_api_services if counted else connections
    each_s = ANSWER_DEADLINE_S + float(own["requests"]["think_time_s"])
    return ceil(requests / connections) * each_s + (cell.paced_s if counted else 0.0)
