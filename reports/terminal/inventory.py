"""Lists for the terminal that come before a run: the runtimes that were found, the cells of a plan."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from core.cell import Cell
from reports.rows.columns import ABSENT


def print_runtimes(
    found: Mapping[str, Mapping[str, Any]], others: Mapping[str, Mapping[str, Any]], console: Console
) -> None:
    """found: {runtime: its result.json entry}; others: {description: facts} of interpreters that were not chosen."""
    for name, facts in found.items():
        console.print(f"{name}", style="bold", highlight=False)
        for label, text in _lines(facts):
            console.print(f"  {label:<9} {text}", markup=False, highlight=False, soft_wrap=True)
    if others:
        console.print("\nAlso found (choose one with --interpreter NAME=PATH):", markup=False)
        for description, facts in others.items():
            console.print(
                f"  {description}: {facts['version']}, {flags_text(facts['flags'])}",
                highlight=False,
                soft_wrap=True,
            )


def _lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    lines = [
        ("version", _version(facts)),
        ("build", f"{facts['build']}"),
        ("flags", flags_text(facts["flags"])),
        ("where", _where(facts)),
    ]
    packages = {name: version for one in facts["packages"].values() for name, version in one.items()}
    if packages:
        lines.append(("packages", ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))))
    return lines


def _version(facts: Mapping[str, Any]) -> str:
    if not facts["version"]:
        return "programs of machine code, no interpreter"
    build = "free-threaded build" if facts["gil_disabled_build"] else "default build"
    return f"{facts['version']}, {build}, GIL {'on' if facts['gil_enabled'] else 'off'}"


def _where(facts: Mapping[str, Any]) -> str:
    found = f" (found by {facts['source']})" if "source" in facts else ""
    return f"{facts['executable']}{found}"


def flags_text(flags: Mapping[str, Any]) -> str:
    """Build flags in words: 'PGO, no LTO, static'; '-' where they are not known, as of native programs."""
    if not all(name in flags for name in ("pgo", "lto", "shared")):
        return ABSENT
    words = ["PGO" if flags["pgo"] else "no PGO", "LTO" if flags["lto"] else "no LTO"]
    words.append("shared library" if flags["shared"] else "static")
    return ", ".join(words + [name for name in ("debug", "tail_call", "jit") if flags.get(name)])


def print_plan(cells: Sequence[tuple[Cell, float]], blocks: int, seconds: float, console: Console) -> None:
    """cells: with the seconds that each is estimated to take."""
    varying = _varying([cell for cell, _ in cells])
    table = Table(box=None, pad_edge=False)
    table.add_column("cell", no_wrap=True)
    for name in ("system", "runtime", *varying, "requests", "about"):
        table.add_column(name, justify="right", overflow="fold")
    for cell, one_s in cells:
        values = [str(cell.params.get(name, "")).lower() for name in varying]
        table.add_row(cell.cell_id, cell.system, cell.runtime, *values, f"{cell.requests:,}", f"{one_s:.1f} s")
    console.print(table)
    total = blocks * sum(cell.requests for cell, _ in cells)
    console.print(
        f"\n{len(cells)} cells x {blocks} blocks, {total:,} requests, about {_duration(seconds)} "
        "(a rough estimate; nothing was run).",
        highlight=False,
    )


def _varying(cells: Sequence[Cell]) -> list[str]:
    names = dict.fromkeys(name for cell in cells for name in cell.params)
    return [name for name in names if len({str(cell.params[name]) for cell in cells if name in cell.params}) > 1]


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
