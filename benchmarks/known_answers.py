"""Measure services whose ratio and latencies are known, and judge the verdicts: ok, refused or MISS.

Usage: python -m benchmarks.known_answers [--only sleep,work] [--client native,python] [--order slices,sequential]
       [--short] [--repeats 1] [--aa 0] [--save FILE]

tests/known/scenarios.py lists the services. runner.py measures each of them with both clients and in both orders, and
the truth comes from a simulation of the same closed loop. The whole table takes about two hours on two quiet cores.
The exit status is 1 if there is a MISS:

- a ratio that differs from the truth by more than 3 %, unless the verdict is `invalid`, or `inconclusive` with an
  interval that reaches to within 3 % of the truth
- `equivalent` although the truth is beyond the margin, or `faster` or `slower` in the wrong direction
- throughput of a service, p99 or p99.9 that differs from the truth by more than 10 %. Latencies may also differ by
  10 ms, because threads wake up late, and by 50 ms if the run says that other processes used the cores
- a warning of an unsteady start although the service is steady, or no warning although it is not
- equal services that are called faster or slower in more than 5 % of the rows (and in more than one)

--only: the services whose names begin with one of these words, separated by commas
--short: two blocks of each row, too few for an interval
--aa N: N comparisons of a service with itself, and no other row
--save: also write the table to this file, as Markdown
"""

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from benchmarks.bench import options, run_of, table_lines
from core.errors import GilscopeError
from core.result import Run
from reports.facts.inside import starts
from reports.statistics.verdict import MARGIN
from reports.view import View
from tests.known import service
from tests.known.scenarios import SAME, SCENARIOS, Scenario, Truth

ARMS = "3.14t+gil,3.14t"
CLIENTS, ORDERS = "native,python", "slices,sequential"
OK, REFUSED, MISS = "ok", "refused", "MISS"
NEAR, NEARLY, MOST_CALLED = 1.03, 0.1, 0.05
LATE_MS, LATE_BESIDE_OTHERS_MS = 10.0, 50.0
BLOCKS, SHORT_BLOCKS = 8, 2
HEAD = "service | client | order | true ratio | measured | verdict | true p99, p99.9 [ms] | measured | result"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a run says about its two arms. rates are per second, percentiles are p99 and p99.9 of each arm in ms.

    low, high: the interval of the ratio; None if the run gives none
    is_warned: whether the run says that an arm was unsteady at first
    is_beside_others: whether the run says that other processes used the cores
    took_turns: whether the arms alternated in slices
    """

    ratio: float
    low: float | None
    high: float | None
    verdict: str
    why: str = ""
    rates: Sequence[float] = ()
    percentiles: Sequence[Sequence[float | None]] = ()
    is_warned: bool = False
    is_beside_others: bool = False
    took_turns: bool = False


def main() -> None:
    """Print the table, then how often each result occurred. Exit with status 1 if there is a MISS."""
    given = options(__doc__, only="", client=CLIENTS, order=ORDERS, short=False, repeats=1, aa=0, save="")
    names = [SAME] if given.aa else [name for name in SCENARIOS if name.startswith(tuple(given.only.split(",")))]
    chosen = list(product(range(given.aa or given.repeats), names, given.client.split(","), given.order.split(",")))
    results: list[str] = []
    lines = []
    for line in table_lines(HEAD, _rows(chosen, given.short, results)):
        print(line, flush=True)
        lines.append(line)
    counts = ", ".join(f"{results.count(word)} {word}" for word in (OK, REFUSED, "called", MISS))
    print(f"\n{counts}")
    if given.save:
        title = f"# Known answers\n\n`python -m benchmarks.known_answers {shlex.join(sys.argv[1:])}`: {counts}\n"
        Path(given.save).write_text("\n".join([title, *lines, ""]), "utf-8")
    sys.exit(MISS in results or results.count("called") > max(1, MOST_CALLED * len(results)))


def _rows(chosen: Sequence[tuple[int, str, str, str]], is_short: bool, results: list[str]) -> Iterator[Sequence[str]]:
    """Measure each of *chosen* (number, service, client, order), and yield its row. Append each result to *results*."""
    for _, name, client, order in chosen:
        scenario = SCENARIOS[name]
        try:
            seen = measured(scenario, client, order, is_short)
        except GilscopeError as failed:
            results.append(MISS)
            yield [name, client, order, f"{scenario.ratio:.3f}", *["-"] * 4, f"{MISS}: {failed}".replace("\n", " ")]
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
            ": ".join([found, "; ".join(faults) or seen.why]) if found in (MISS, REFUSED) else found,
        ]


def _milliseconds(percentiles: Sequence[float | None]) -> str:
    return ", ".join("-" if one is None else f"{one:.3g}" for one in percentiles)


# ---- judge -------------------------------------------------------------------------------------------------------


def judge(scenario: Scenario, seen: Seen) -> tuple[str, list[str]]:
    """Return the result of a row (OK, REFUSED, MISS, or "called" for equal services), and what is wrong."""
    if scenario.is_unsteady:
        return (OK, []) if seen.is_warned else (MISS, ["no warning of the unsteady start"])
    truth = scenario.ratio
    faults = [*_false_words(truth, seen), *_false_figures(scenario.truths, seen)]
    if seen.is_warned:
        faults.append("a warning of an unsteady start")
    if faults:
        return MISS, faults
    if truth == 1 and seen.verdict in ("faster", "slower"):
        return "called", []
    return (OK if _is_near(truth, seen) and seen.verdict != "invalid" else REFUSED), []


def _is_near(truth: float, seen: Seen) -> bool:
    return 1 / NEAR <= seen.ratio / truth <= NEAR


def _false_words(truth: float, seen: Seen) -> Iterator[str]:
    """Yield what is wrong with the verdict and the ratio."""
    if seen.verdict == "invalid":
        return
    if seen.verdict == "equivalent" and not 1 / (1 + MARGIN) <= truth <= 1 + MARGIN:
        yield "not equivalent"
    if (seen.verdict == "faster" and truth < 1) or (seen.verdict == "slower" and truth > 1):
        yield "wrong direction"
    is_within = seen.low is not None and seen.high is not None and seen.low / NEAR <= truth <= seen.high * NEAR
    if not _is_near(truth, seen) and not (seen.verdict == "inconclusive" and is_within):
        yield f"ratio {seen.ratio / truth - 1:+.1%}"


def _false_figures(truths: Sequence[Truth], seen: Seen) -> Iterator[str]:
    """Yield each throughput and each percentile that is too far from the truth."""
    if seen.verdict == "invalid":
        return
    late_ms = LATE_BESIDE_OTHERS_MS if seen.is_beside_others else LATE_MS
    for place, (truth, rate, percentiles) in enumerate(zip(truths, seen.rates, seen.percentiles, strict=True), 1):
        if abs(rate / truth.rate - 1) > NEARLY:
            yield f"throughput {place}: {rate:.1f}/s instead of {truth.rate:.1f}/s"
        for name, true_ms, shown_ms in zip(("p99", "p99.9"), (truth.p99_ms, truth.p999_ms), percentiles, strict=True):
            if shown_ms is not None and abs(shown_ms - true_ms) > max(late_ms, NEARLY * true_ms):
                yield f"{name} {place}: {shown_ms:.0f} ms instead of {true_ms:.0f} ms"


# ---- measure -----------------------------------------------------------------------------------------------------


def measured(scenario: Scenario, client: str, order: str, is_short: bool = False) -> Seen:
    """Measure a scenario with runner.py. Raises GilscopeError if there is nothing to compare."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        return read(run_of(*flags(scenario, client, order, is_short, folder), folder=folder))


def flags(scenario: Scenario, client: str, order: str, is_short: bool, folder: Path) -> list[str]:
    """Return the flags of runner.py. The requests of the scenario are written to a file in *folder*."""
    asked: dict[str, Any] = {"requests": ["GET /"]}
    if scenario.slow_weight:
        weights = {"GET /": scenario.slow_weight - 1, "GET /slow": 1}
        asked["requests"] = [{"request": request, "weight": weight} for request, weight in weights.items()]
    if scenario.think_ms:
        asked["think_time"] = f"{scenario.think_ms}ms"
    file = folder / "requests.yaml"
    file.write_text(yaml.safe_dump(asked))
    command = f"{{python}} {shlex.quote(str(service.__file__))} {{port}} {scenario.base} {scenario.other}"
    return [
        *("--service-command", command, "--requests", str(file), "--runtime", ARMS),
        *("--blocks", str(SHORT_BLOCKS if is_short else BLOCKS), "--duration", f"{scenario.duration_s:g}"),
        *("--warmup", scenario.warmup, "--num-clients", "2"),
        *("--num-connections-per-client", str(scenario.connections // 2)),
        *(("--client-runtime", "native") if client == "native" else ()),
        *(("--order", "sequential") if order == "sequential" else ()),
    ]


def read(run: Run) -> Seen:
    """Read what a report shows of a run. Raises GilscopeError with the reason if a service was not measured."""
    rows, bad = View(run).rows, run.failed_cells
    compared = next((one for one in run.comparisons if one["step"] != "aa" and one["ratio"]), None)
    figures = [row.figures for row in rows if row.figures]
    if compared is None or len(figures) < len(rows):
        reason = str(bad[0].reason) if bad else "there is no comparison"
        if bad and all(cell.status == "invalid" for cell in bad):
            return Seen(ratio=nan, low=None, high=None, verdict="invalid", why=reason)
        raise GilscopeError("{reason}", reason=reason)
    return Seen(
        **{name: compared[name] for name in ("ratio", "low", "high", "verdict")},
        why=compared["why"]["text"],
        rates=[one["requests_per_s"] for one in figures],
        percentiles=[[_in_ms(one[name]) for name in ("p99_ns", "p999_ns")] for one in figures],
        is_warned=any(length for _, length, _ in starts(rows)),
        is_beside_others=compared["is_beside_others"],
        took_turns=bool(run.cells[0].turns),
    )


def _in_ms(time_ns: float | None) -> float | None:
    return None if time_ns is None else time_ns / 1e6


if __name__ == "__main__":
    main()
