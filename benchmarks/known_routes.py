"""Measure a service with five routes, of which one takes 20 % longer without the GIL, and a service
whose five routes are equal, and count which routes are called.

Usage: python -m benchmarks.known_routes [--repeats 10] [--aa 20] [--blocks 10]
       [--client native,python]

A request takes 20 ms, and one to the route /slow 24 ms without the GIL. The clients alternate. The
exit status is 1 if the slow route is not called, or another one is, in more than one of ten runs,
or if A/A calls more than 5 % of its routes.

--repeats N: N runs that compare 3.14t+gil with 3.14t
--aa N: N runs that compare 3.14t with itself
"""

import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from benchmarks.bench import options, run_of
from record.comparison import SavedComparison
from tests.known import service
from tests.known.measure import CLIENT_PYTHON

FAST = ("GET /a", "GET /b", "GET /c", "GET /d")
SLOW = "GET /slow"
EQUAL, SLOWER = "answer_ms=20,slow_ms=20", "answer_ms=20,slow_ms=24"
RUNTIMES, AGAIN = ("--runtime", "3.14t+gil,3.14t"), ("--runtime", "3.14t", "--aa")
FOUND, MOST_CALLED = 0.9, 0.05
DIFFERENT = ("faster", "slower")


def main() -> None:
    """Print the ratio and verdict of each route, and how often each was called."""
    given = options(__doc__, repeats=10, aa=20, blocks=10, client="native,python")
    clients = given.client.split(",")
    right = called = 0
    for number in range(given.repeats):
        client = clients[number % len(clients)]
        one = compared(SLOWER, RUNTIMES, client, given.blocks)
        right += _called(one) == [SLOW] and one.routes[SLOW].verdict == "slower"
        _show(client, one)
    for number in range(given.aa):
        client = clients[number % len(clients)]
        one = compared(EQUAL, AGAIN, client, given.blocks)
        called += len(_called(one))
        _show(client, one)
    routes = given.aa * (len(FAST) + 1)
    print(f"\nonly the slow route called: {right} of {given.repeats} runs")
    print(f"A/A: {called} of {routes} routes called")
    sys.exit(int(right < FOUND * given.repeats or called > MOST_CALLED * routes))


def _called(one: SavedComparison) -> list[str]:
    return [name for name, route in one.routes.items() if route.verdict in DIFFERENT]


def _show(client: str, one: SavedComparison) -> None:
    routes = (f"{name} {route.ratio:.3f} {route.verdict}" for name, route in one.routes.items())
    label = f"{client}, {one.denominator} → {one.numerator}: {one.ratio:.3f} {one.verdict}"
    print(f"{label}: {'; '.join(routes)}", flush=True)


def compared(
    without_gil: str, runtimes: tuple[str, ...], client: str, blocks: int
) -> SavedComparison:
    """Measure a service, and return the only comparison of the run."""
    command = f"{{python}} {shlex.quote(str(service.__file__))} {{port}} {EQUAL} {without_gil}"
    with TemporaryDirectory() as place:
        file = Path(place) / "requests.yaml"
        file.write_text(yaml.safe_dump([*FAST, SLOW]))
        run = run_of(
            *("--service-command", command, "--requests", str(file), *runtimes),
            *("--blocks", str(blocks), "--duration", "1"),
            *("--num-clients", "2", "--num-connections-per-client", "4"),
            *("--client-runtime", "native" if client == "native" else CLIENT_PYTHON),
        )
    (one,) = run.comparisons
    return one


if __name__ == "__main__":
    main()
