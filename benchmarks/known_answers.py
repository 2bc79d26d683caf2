"""Measure services whose ratio and latencies are known, and judge the verdicts: ok, refused or
MISS.

Usage: python -m benchmarks.known_answers [--only sleep,work] [--client native,python] [--order
       slices,sequential] [--short] [--repeats 1] [--aa 0] [--sweeps 0]

tests/known/scenarios.py lists the services. runner.py measures each of them with both clients and
in both orders, and the truth comes from a simulation of the same closed loop. The whole table takes
about two hours on two quiet cores. The exit status is 1 if there is a MISS:

- a ratio that differs from the truth by more than 3 %, unless the verdict is `invalid`, or
  `inconclusive` with an interval that reaches to within 3 % of the truth
- `equivalent` although the truth is beyond the margin, or `faster` or `slower` in the wrong
  direction
- throughput of a service, p99 or p99.9 that differs from the truth by more than 10 %. Latencies may
  also differ by 10 ms, because threads wake up late, and by 50 ms if the run says that other
  processes used the cores. Percentiles of a queue may lie anywhere in the range of 99 % of
  simulated measurements of the same length
- a warning of an unsteady start although the service is steady, or no warning although it is not
- equal services that are called faster or slower in more than 5 % of their rows (and in more than
  one)

--only: the services whose names begin with one of these words, separated by commas
--short: one block of each row, too few for an interval
--aa N: N comparisons of a service with itself by each client in each order, and no other row
--repeats: how often each row is measured
--sweeps N: N sweeps in which the second value makes requests 10 % slower without the GIL only, and
no other row
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import product

from benchmarks.bench import options, print_table
from core.messages import GilscopeError
from tests.known.judge import CALLED, MISS, OK, REFUSED, judge
from tests.known.measure import measured, swept
from tests.known.scenarios import SAME, SCENARIOS

MOST_CALLED, FOUND = 0.05, 0.9
_SWEPT = "NUM_WORKERS_PER_API_SERVICE 1 → 10"
PLANTED = {f"{_SWEPT}: 3.14t", f"{_SWEPT}: 3.14t+gil → 3.14t", "GIL: 3.14t+gil → 3.14t 1x10"}
HEAD = (
    "service | client | order | true ratio | measured | verdict | true p99, p99.9 [ms] | measured"
    " | result"
)


def main() -> None:
    """Print the table, then how often each result occurred. Exit with status 1 if
    there is a MISS.
    """
    given = options(
        __doc__,
        only="",
        client="native,python",
        order="slices,sequential",
        short=False,
        repeats=1,
        aa=0,
        sweeps=0,
    )
    if given.sweeps:
        sys.exit(_sweeps(given.sweeps, given.client.split(",")))
    names = (
        [SAME]
        if given.aa
        else [name for name in SCENARIOS if name.startswith(tuple(given.only.split(",")))]
    )
    if not names:
        sys.exit(
            f"no service's name begins with {given.only}. The names are: {'; '.join(SCENARIOS)}"
        )
    chosen = list(
        product(
            range(given.aa or given.repeats), names, given.client.split(","), given.order.split(",")
        )
    )
    results: list[str] = []
    print_table(HEAD, _rows(chosen, given.short, results))
    print(", ".join(f"{results.count(word)} {word}" for word in (OK, REFUSED, CALLED, MISS)))
    equal = sum(name == SAME for _, name, *_ in chosen)
    sys.exit(MISS in results or results.count(CALLED) > max(1, MOST_CALLED * equal))


def _sweeps(count: int, clients: Sequence[str]) -> int:
    """Measure sweeps, and print the verdict on each comparison. Return 1 if too many are wrong,
    else 0.
    """
    found = called = 0
    for number in range(count):
        verdicts = swept(clients[number % len(clients)])
        print("; ".join(f"{label}: {word}" for label, word in verdicts.items()), flush=True)
        found += all(word == "slower" for label, word in verdicts.items() if label in PLANTED)
        called += sum(
            word in ("faster", "slower") for label, word in verdicts.items() if label not in PLANTED
        )
    print(f"\nfound in {found} of {count}; {called} others called")
    return int(found < FOUND * count or called > MOST_CALLED * count)


def _rows(
    chosen: Sequence[tuple[int, str, str, str]], is_short: bool, results: list[str]
) -> Iterator[Sequence[str]]:
    """Measure each of *chosen* (number, service, client, order), and yield its row. Append each
    result to *results*.
    """
    for _, name, client, order in chosen:
        scenario = SCENARIOS[name]
        try:
            seen = measured(scenario, client, order, is_short)
        except GilscopeError as failed:
            results.append(MISS)
            yield [
                name,
                client,
                order,
                f"{scenario.ratio:.3f}",
                *["-"] * 4,
                f"{MISS}: {failed}".replace("\n", " "),
            ]
            continue
        found, faults = judge(scenario, seen)
        results.append(found)
        span = "" if seen.low is None else f" [{seen.low:.3f}, {seen.high:.3f}]"
        yield [
            name,
            client,
            order if seen.took_turns == (order == "slices") else f"{order}: one after the other",
            f"{scenario.ratio:.3f}",
            f"{seen.ratio:.3f}{span}",
            seen.verdict,
            " / ".join(_milliseconds((truth.p99_ms, truth.p999_ms)) for truth in scenario.truths),
            " / ".join(map(_milliseconds, seen.percentiles)),
            ": ".join([found, "; ".join(faults) or seen.why])
            if found in (MISS, REFUSED)
            else found,
        ]


def _milliseconds(percentiles: Sequence[float | None]) -> str:
    return ", ".join(map(_three_digits, percentiles))


def _three_digits(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


if __name__ == "__main__":
    main()
