"""The machine, the runtimes with their build flags, the plan and the command. Pure."""

from collections.abc import Mapping
from typing import Any

from core.method import SAME
from core.result import Run
from reports.compare.samples import method_of
from reports.page.commands import repeat_command
from reports.page.tables import Table, plain

UNKNOWN = "-"
FLAGS = ("pgo", "lto", "shared")
MORE_FLAGS = ("debug", "tail_call", "jit")


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
            flags(facts.get("flags", {}), words),
            ", ".join(
                f"{package} {number}" for one in facts.get("packages", {}).values() for package, number in one.items()
            ),
        )
        for name, facts in run.runtimes.items()
    ]
    heads = [words[name] for name in ("runtime", "version", "build", "compiler", "flags")]
    return plain(lines, words["runtime"], [*heads, words["packages"]], "facts")


def flags(known: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """Build flags in words: 'PGO, no LTO, static'; a dash where they are not known, as of native programs."""
    if not all(name in known for name in FLAGS):
        return UNKNOWN
    told = [words[f"flag_{name}" if known[name] else f"flag_no_{name}"] for name in FLAGS]
    return words["between"].join([*told, *(words[f"flag_{name}"] for name in MORE_FLAGS if known.get(name))])


def plan(run: Run, words: Mapping[str, str]) -> Table:
    """What was to be measured, and how to measure it again."""
    asked = run.plan
    lines = [
        (words["run"], run.run_id),
        (words["times"], f"{run.started_at} - {run.finished_at or '...'}"),
        (words["plan_name"], f"{asked['name']}: {asked.get('description', '')}".rstrip(": ")),
        (words["plan_blocks"], str(asked["blocks"])),
        (words["seed_number"], str(run.seed)),
        (words["scale"], f"{asked.get('scale', 1):g}"),
        (words["method"], words["between"].join(_method(asked.get("method", {}), words)) or UNKNOWN),
        (words["repeat"], repeat_command(run)),
    ]
    return plain(lines, words["plan"], ("", ""))


def _method(stored: Mapping[str, Any], words: Mapping[str, str]) -> list[str]:
    """How cells were measured, as far as a choice was made."""
    method = method_of(stored or None)
    client = words["method_same"] if method.client_runtime == SAME else method.client_runtime
    found = {
        words["method_warmup"].format(n=f"{method.warmup.share:.0%}"): method.warmup.share,
        words["method_warmup_s"].format(n=f"{method.warmup.seconds:g}"): method.warmup.seconds,
        words["size_duration"].format(n=f"{method.duration_s:g}"): method.duration_s,
        words["method_client"].format(runtime=client): stored,
        words["method_services"].format(cpus=", ".join(map(str, method.pin_services))): method.pin_services,
        words["method_clients"].format(cpus=", ".join(map(str, method.pin_clients))): method.pin_clients,
    }
    return [told for told, holds in found.items() if holds]
