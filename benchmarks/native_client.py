"""What a request costs the native client beside the Python client: system 2, in alternating cells.

Usage: python -m benchmarks.native_client [--runtime 3.14t] [--services 4] [--clients 4] [--repeats 5]
"""

import argparse
from dataclasses import replace

from benchmarks.bench import cell_of, cpu_us, measured, middle, opened, runtime_called
from core.method import SAME
from core.runtime import NATIVE

REQUESTS = 40_000  # of each client, to all services
BOTH = ("cpu_user_ns", "cpu_system_ns")


def main() -> None:
    """Print requests/s and client CPU per request of both clients, medians, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", default="3.14t")
    parser.add_argument("--services", type=int, default=4)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    sizes = {"NUM_API_SERVICES": given.services, "NUM_CLIENTS": given.clients}
    cell = cell_of("2", given.runtime, {**sizes, "NUM_REQUESTS_PER_CLIENT": REQUESTS // given.services})
    found: dict[str, list[tuple[float, float]]] = {SAME: [], NATIVE: []}
    with opened(runtime_called(given.runtime)) as bench:
        for _ in range(given.repeats):
            for client, figures in found.items():
                result = measured(cell, replace(bench, method=replace(bench.method, client_runtime=client)))
                figures.append((cpu_us(result, "clients", *BOTH), result.answered * 1e9 / result.wall_ns))
    for client, name in ((SAME, f"Python client ({given.runtime})"), (NATIVE, "native client")):
        cpu, rate = (middle([pair[side] for pair in found[client]]) for side in (0, 1))
        print(f"{name}: {cpu:.2f} us of client CPU per request, {rate:,.0f} requests/s")
    ratio = middle([native[0] / python[0] for native, python in zip(found[NATIVE], found[SAME], strict=True)])
    print(f"client CPU per request, native over Python: {ratio:.3f} (median of {given.repeats} pairs)")


if __name__ == "__main__":
    main()
