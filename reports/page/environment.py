"""The machine, the runtimes with their build flags, the plan and the command. Pure."""

from collections.abc import Mapping
from typing import Any

from core.result import Run
from reports.inventory import flags_text
from reports.page.tables import Table, plain
from reports.page.validity import repeat_command

UNKNOWN = "-"


def machine(run: Run, words: Mapping[str, str]) -> Table:
    """What the run knows of the machine."""
    known, limits = run.machine, run.machine.get("limits") or {}
    memory, load = known.get("memory_bytes"), known.get("load")
    lines = [
        (words["cpu"], known.get("cpu")),
        (words["cores"], cores(known)),
        (words["main_memory"], f"{memory / 2**30:.1f} GiB" if memory else None),
        (words["os"], known.get("os")),
        (words["kernel"], known.get("kernel")),
        (words["load"], ", ".join(f"{one:.2f}" for one in load) if load else None),
        (words["governor"], known.get("governor")),
        (words["commit"], known.get("commit")),
        (words["nofile"], limits.get("nofile_soft")),
        (words["nproc"], limits.get("nproc_soft")),
    ]
    return plain([(name, _text(value)) for name, value in lines], words["machine"], ("", ""))


def cores(known: Mapping[str, Any]) -> str | None:
    """How many cores, and how many of them the run could use where these are fewer; None where nobody knows."""
    there, usable = known.get("cores"), known.get("cores_usable")
    return None if there is None else str(there) if usable in (None, there) else f"{usable} / {there}"


def _text(value: Any) -> str:
    return UNKNOWN if value in (None, "") else str(value)


def runtimes(run: Run, words: Mapping[str, str]) -> Table:
    """Every interpreter, and how it was built."""
    lines = [
        (
            name,
            _text(facts.get("version")),
            words["free_threaded" if facts.get("gil_disabled_build") else "default_build"]
            if facts.get("version")
            else UNKNOWN,
            _text(facts.get("compiler")),
            flags_text(facts.get("flags", {})),
            ", ".join(
                f"{package} {number}" for one in facts.get("packages", {}).values() for package, number in one.items()
            ),
        )
        for name, facts in run.runtimes.items()
    ]
    heads = [words[name] for name in ("runtime", "version", "build", "compiler", "flags")]
    return plain(lines, words["runtime"], [*heads, words["packages"]], "facts")


def plan(run: Run, words: Mapping[str, str]) -> Table:
    """What was to be measured, and how to measure it again."""
    asked = run.plan
    method = {name: value for name, value in asked.get("method", {}).items() if value not in (0, 0.0, [], ())}
    lines = [
        (words["run"], run.run_id),
        (words["times"], f"{run.started_at} - {run.finished_at or '...'}"),
        (words["plan_name"], f"{asked['name']}: {asked.get('description', '')}".rstrip(": ")),
        (words["plan_blocks"], str(asked["blocks"])),
        (words["seed_number"], str(run.seed)),
        (words["scale"], f"{asked.get('scale', 1):g}"),
        (words["method"], ", ".join(f"{name} {_method(value)}" for name, value in method.items()) or UNKNOWN),
        (words["repeat"], repeat_command(run)),
    ]
    return plain(lines, words["plan"], ("", ""))


def _method(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {one:g}" for name, one in value.items() if one) or "0"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
