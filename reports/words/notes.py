"""What must be said below a table: what failed, what is missing, how to read it. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.method import SAME
from core.result import Run
from core.runtime import NATIVE
from reports.rows.summary import Row, reasons, reference, runtimes, same_work
from reports.words.absent import absent_lines


def troubles(run: Run, rows: Sequence[Row]) -> list[str]:
    """Cells that failed, cells and runtimes that were not measured."""
    return [*_failures(run), *_not_measured(rows), *_missing(run), *absent_lines(run)]


def readings(run: Run, rows: Sequence[Row]) -> list[str]:
    """How the figures were made, which way the ratio goes, and what confounds it."""
    return [*_figures(rows), *_unlike_work(rows), *_ratio(run), *_method(run), *_confound(run)]


def _failures(run: Run) -> list[str]:
    parts = []
    for status in ("failed", "invalid"):
        cells = [cell for cell in run.failed_cells if cell.status == status]
        why = reasons(cells)
        more = f"; {len(why) - 1} more reasons in cells.csv" if len(why) > 1 else ""
        parts += [f"{len(cells)} {status} ({why[0].rstrip('.')}{more})"] if why else []
    return [f"Of {len(run.cells)} measured cells {' and '.join(parts)}. No figure includes them."] if parts else []


def _not_measured(rows: Sequence[Row]) -> list[str]:
    lacking = sum(max(0, row.planned - len(row.cells)) for row in rows)
    return [f"Cells of the plan that are not measured: {lacking}. --resume goes on with them."] if lacking else []


def _missing(run: Run) -> list[str]:
    return [
        line if name in line else f"{name}: {line}"
        for name, line in ((name, str(line)) for name, line in run.missing.items())
    ]


def _figures(rows: Sequence[Row]) -> list[str]:
    blocks = sorted({len(row.good) for row in rows if row.good})
    if not blocks:
        return []
    number = f"{blocks[0]}" if len(blocks) == 1 else f"{blocks[0]} to {blocks[-1]}"
    plural = "" if blocks == [1] else "s"
    line = (
        "Completion time: what a client took for all of its requests, median and maximum over the clients; "
        f"medians of {number} block{plural}. Latency (p50, p99): of all requests of all blocks. "
        "CPU: user and system time per request."
    )
    return [line]


def _unlike_work(rows: Sequence[Row]) -> list[str]:
    if same_work(rows):
        return []
    return ["The number of requests is not the same everywhere: between systems and settings compare requests/s."]


def _ratio(run: Run) -> list[str]:
    if len(runtimes(run)) < 2 or not reference(run):
        return []
    (first,) = reference(run)
    formula = f"Ratio: completion time under {first} / completion time under the row's runtime."
    if run.plan.get("method", {}).get("duration_s"):
        formula = f"Ratio: requests/s under the row's runtime / requests/s under {first}."
    return [f"{formula} Above 1 the row is faster than {first}, below 1 slower."]


def _method(run: Run) -> list[str]:
    """What the plan's method changes: warm-up, duration, CPUs, and whose runtime the clients have."""
    method = run.plan.get("method", {})
    warmup = method.get("warmup", {})
    said = {
        f"a warm-up of {warmup.get('share', 0):.0%} of the requests": warmup.get("share"),
        f"a warm-up of {warmup.get('seconds', 0):g} s": warmup.get("seconds"),
        f"each cell timed for {method.get('duration_s', 0):g} s": method.get("duration_s"),
        f"services on CPU {_numbers(method, 'pin_services')}": method.get("pin_services"),
        f"clients on CPU {_numbers(method, 'pin_clients')}": method.get("pin_clients"),
    }
    client = method.get("client_runtime", SAME)
    whose = "the service's runtime" if client == SAME else f"{client} everywhere: only the service changes"
    return [f"Method: {', '.join([*(text for text, holds in said.items() if holds), f'clients run under {whose}'])}."]


def _numbers(method: Mapping[str, Any], name: str) -> str:
    return ", ".join(map(str, method.get(name, ())))


def _confound(run: Run) -> list[str]:
    found = differences(run.runtimes)
    if not found:
        return []
    return ["The builds differ, and a ratio between them cannot tell these causes apart: " + "; ".join(found) + "."]


_FACTS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "version": lambda facts: str(facts.get("version", "unknown")),
    "compiler": lambda facts: facts.get("compiler") or "unknown",
    "PGO": lambda facts: _flag(facts, "pgo"),
    "LTO": lambda facts: _flag(facts, "lto"),
    "shared library": lambda facts: _flag(facts, "shared"),
    "debug": lambda facts: _flag(facts, "debug"),
    "tail calls": lambda facts: _flag(facts, "tail_call"),
    "JIT": lambda facts: _flag(facts, "jit"),
}


def differences(facts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Where the builds differ in more than the lock: 'PGO yes (3.11), no (3.14t)'."""
    found = []
    for fact, read in _FACTS.items():
        who: dict[str, list[str]] = {}
        for name, known in facts.items():
            if name != NATIVE:
                who.setdefault(read(known), []).append(name)
        if len(who) > 1:
            found.append(f"{fact} " + ", ".join(f"{value} ({', '.join(names)})" for value, names in who.items()))
    return found


def _flag(facts: Mapping[str, Any], name: str) -> str:
    flags = facts.get("flags", {})
    return "unknown" if name not in flags else "yes" if flags[name] else "no"
