"""Measure a scenario with runner.py, and read from the saved run what a report shows of it."""

import shlex
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from analysis.unsteady_start import starts
from benchmarks.bench import run_of
from core.messages import GilscopeError
from record.saved_run import Run
from reports.view import View
from tests.known import service
from tests.known.judge import Seen
from tests.known.scenarios import BLOCKS, Scenario

ARMS = "3.14t+gil,3.14t"
CLIENT_PYTHON = "3.14"
SHORT_BLOCKS = 1
SWEPT = "--num-workers-per-api-service"


def measured(scenario: Scenario, client: str, order: str, is_short: bool = False) -> Seen:
    """Measure a scenario with runner.py. Raises GilscopeError if there is nothing to compare."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        return read(run_of(*flags(scenario, client, order, is_short, folder), folder=folder))


def swept(client: str) -> dict[str, str]:
    """Measure a sweep whose second value makes requests slower under one runtime only. Return each verdict by label."""
    command = f"{{python}} {shlex.quote(str(service.__file__))} {{port}} answer_ms=20 answer_ms=20 {{threads}}"
    run = run_of(
        *("--service-command", command, "--runtime", ARMS, SWEPT, "1,10", "--until", "verdict,5min", "--duration", "1"),
        *("--num-clients", "2", "--num-connections-per-client", "4"),
        *("--client-runtime", "native" if client == "native" else CLIENT_PYTHON),
    )
    view = View(run)
    return {f"{one.label} {view.settings.values(one)}".strip(): one.verdict for one in view.all_comparisons}


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
        *("--client-runtime", "native" if client == "native" else CLIENT_PYTHON),
        *(("--order", "sequential") if order == "sequential" else ()),
        *(("--rate", str(scenario.rate // 2), "--arrivals", "poisson") if scenario.rate else ()),
    ]


def read(run: Run) -> Seen:
    """Read what a report shows of a run. Raises GilscopeError with the reason if a service was not measured."""
    rows, bad = View(run).rows, run.failed_cells
    compared = next((one for one in run.comparisons if one.step != "aa" and one.ratio), None)
    figures = [row.figures for row in rows if row.figures]
    if compared is None or len(figures) < len(rows):
        reason = str(bad[0].reason) if bad else "there is no comparison"
        if bad and all(cell.status == "invalid" for cell in bad):
            return Seen(ratio=nan, low=None, high=None, verdict="invalid", why=reason)
        raise GilscopeError("{reason}", reason=reason)
    return Seen(
        **{name: getattr(compared, name) for name in ("ratio", "low", "high", "verdict")},
        why=str(compared.why),
        rates=[one["requests_per_s"] for one in figures],
        percentiles=[[_in_ms(one[name]) for name in ("p99_ns", "p999_ns")] for one in figures],
        is_warned=any(length for _, length, _ in starts(rows)),
        is_beside_others=compared.is_beside_others,
        took_turns=bool(run.cells[0].turns),
    )


def _in_ms(time_ns: float | None) -> float | None:
    return None if time_ns is None else time_ns / 1e6
