"""What each value of result.json must be for reports to rest on it: docs/result.md in code.

Keys that are not here are left as they are. What an older file may lack is in `may`.
"""

from datetime import datetime
from typing import Any

from core.messages import message
from core.saved import SavedPlan
from core.shape import (
    LARGEST,
    Misfit,
    array,
    by_name,
    choice,
    flag,
    histogram,
    inside,
    mapping,
    nullable,
    number,
    parameters,
    record,
    sentence,
    share,
    shown,
    text,
    whole,
)

COUNT = whole()
DEEPEST_STACK = 110
SEED = whole(0, 2**64)
USAGE = dict.fromkeys(
    (
        *("cpu_user_ns", "cpu_system_ns", "voluntary_switches", "involuntary_switches", "run_queue_ns"),
        *("max_rss_bytes", "pss_bytes", "processes"),
    ),
    COUNT,
)
STATES = dict.fromkeys(
    ("gil_enabled_ready", "gil_enabled_end", "gil_known", "jit_enabled_ready", "jit_enabled_end"), nullable(flag)
)
PROGRAM = record(may={**dict.fromkeys(("program", "version", "compiler", "java"), text), "packages": by_name(text)})
COUNTS = dict.fromkeys(("requests", "answered", "wrong", "calc_ns"), COUNT)
SAID = record(may={"seconds": number, "percentiles_ms": by_name(number)})
CLIENT = record(
    {"completion_ns": whole(1)},
    {
        **USAGE,
        **STATES,
        **COUNTS,
        **dict.fromkeys(("client_id", "started_ns", "finished_ns", "bench_ns"), COUNT),
        "errors": by_name(COUNT),
        "program": PROGRAM,
        "said": SAID,
        "worker": text,
        "host": text,
        "workers_ns": array(COUNT),
        "timeline": array(array(array(COUNT, 2))),
    },
)
PAUSES = record(
    may={
        **dict.fromkeys(("processes", "reported_ns", "longest_ns", "unkept"), COUNT),
        **dict.fromkeys(("collections", "total_ns"), array(COUNT)),
    }
)
SLOW = record(
    dict.fromkeys(("threshold_ns", "requests"), COUNT),
    {
        **dict.fromkeys(("overlapping", "mostly"), COUNT),
        "by_chance": number,
        "causes": by_name(record(dict.fromkeys(("share", "window"), number))),
    },
)
SERVED = record({"connections": COUNT, "threads": COUNT}, dict.fromkeys(("loops", "cpu_ns"), array(COUNT)))
SERVICE = record(
    may={
        "workers": array(SERVED),
        **USAGE,
        "pauses": PAUSES,
        **STATES,
        **dict.fromkeys(("service_id", "requests"), COUNT),
        "program": PROGRAM,
        **dict.fromkeys(("pythons", "notices"), array(text)),
        "requests_by_worker": array(COUNT),
        "requests_by_socket": array(COUNT),
        "connections_by_requests": by_name(COUNT),
        "strangers": COUNT,
        "host": text,
    }
)
SIGNED = whole(-LARGEST, LARGEST)
CELL_HOST = record(
    may={
        "offset_ns": SIGNED,
        **dict.fromkeys(("error_ns", "released_ns", "late_ns"), COUNT),
        "disturbances": array(sentence),
    }
)
_BY_NAME = dict.fromkeys(("busiest", "neighbours"), by_name(number))
WINDOW_FIGURES = (
    *("window_ns", "steal", "iowait", "idle", "swapped_pages", "throttles", "quota_stalled_ns"),
    *("cpu_pressure", "memory_pressure"),
)
OTHERS = record({"cores": COUNT, "window_ns": COUNT, "share": number, **_BY_NAME})
WINDOW = record(may={"others": nullable(OTHERS), **dict.fromkeys(WINDOW_FIGURES, nullable(number))})
CELL = record(
    {
        **dict.fromkeys(("cell_id", "system", "runtime", "arm"), text),
        "block": COUNT,
        "params": parameters,
        "status": choice("ok", "failed", "invalid"),
    },
    {
        **dict.fromkeys(("wall_ns", "start_ns", "overhead_ns"), COUNT),
        **COUNTS,
        **dict.fromkeys(("latency", "connect", "waiting"), histogram),
        "errors": by_name(COUNT),
        "slow": by_name(SLOW),
        "slices": record(may={"width_ns": whole(1), "start_ns": whole(-LARGEST), "counts": array(COUNT)}),
        "machine": by_name(nullable(number)),
        "others": by_name(OTHERS),
        "reason": sentence,
        **dict.fromkeys(("client_runtime", "code", "environment", "checksum"), text),
        "disturbances": array(sentence),
        "hosts": by_name(CELL_HOST),
        "clients": array(CLIENT),
        "services": array(SERVICE),
    },
)
ROW = record({"system": text, "params": parameters}, {"title": text, "framed": flag, "runtimes": nullable(array(text))})
METHOD = record(
    {
        "warmup": record({"share": number, "seconds": number}),
        "duration_s": number,
        "client_runtime": text,
        "pin_services": array(COUNT),
        "pin_clients": array(COUNT),
    },
    {"neighbours": array(text)},
)
_HIDDEN = record(dict.fromkeys(("hidden", "name"), text))


def text_or_hidden(value: Any) -> None:
    """Text, or what stands for a secret in a file (core.secret)."""
    (_HIDDEN if isinstance(value, dict) else text)(value)


REQUEST = record(may={"method": text, "path": text_or_hidden})
USER_SERVICE = record(
    {"name": text, "requests": record({"requests": array(REQUEST)}, {"think_time_s": number, "rate": COUNT})},
    {"protocol": text, "command": text_or_hidden, "targets": array(record({"name": text, "url": text_or_hidden}))},
)


LAYOUT = record(
    {"hosts": by_name(record({"name": text, "address": text})), "services_on": text, "clients_on": array(text)}
)


def plan(value: Any) -> None:
    """The plan, as SavedPlan reads it."""
    _PLAN(value)
    try:
        SavedPlan.from_json(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Misfit(shown(error), message("a plan")) from error


_PLAN = record(
    {
        "name": text,
        "blocks": COUNT,
        "scale": number,
        "runtimes": array(text),
        "rows": array(ROW),
    },
    {
        "description": text,
        "view": text,
        "aa": flag,
        "until": record(may={"width": number, "seconds": number, "verdict": flag}),
        "margin": share,
        "judged_steps": array(text),
        "fail_if_slower": number,
        "extended": flag,
        "method": METHOD,
        "own": nullable(USER_SERVICE),
        "absent": array(record({"system": text, "runtime": text, "reason": sentence})),
        "layout": nullable(LAYOUT),
        "outside": by_name(record({"title": text}, {"file": text})),
    },
)
FLAGS = ("pgo", "lto", "shared", "debug", "tail_call", "jit")
RUNTIME = record(
    may={
        **dict.fromkeys(("executable", "source", "implementation", "version", "build", "compiler"), text),
        **dict.fromkeys(("gil_disabled_build", "gil_enabled", "jit_enabled"), flag),
        "flags": record(may={**dict.fromkeys(FLAGS, nullable(flag)), "configure": text}),
        "packages": by_name(by_name(text)),
    }
)
_FACTS = {
    **dict.fromkeys(("cpu", "architecture", "governor", "os", "kernel", "python", "commit"), nullable(text)),
    **dict.fromkeys(("cores", "cores_usable", "memory_bytes"), nullable(COUNT)),
    "cores_quota": nullable(number),
    "load": nullable(array(number)),
    **dict.fromkeys(("limits", "quiet"), nullable(mapping)),
}
HOST = record(
    may={
        **_FACTS,
        "runtimes": nullable(by_name(text)),
        "builds": nullable(by_name(RUNTIME)),
        "link": nullable(record(dict.fromkeys(("median_ns", "bytes_per_s"), COUNT))),
    }
)
MACHINE = record(may={**_FACTS, "hosts": nullable(by_name(HOST))})
VERDICT = choice("faster", "slower", "equivalent", "inconclusive", "invalid", "unjudged")
RATIO = dict.fromkeys(("ratio", "low", "high"), nullable(number))
FACTORS = dict.fromkeys(("cores_used", "cpu_per_request"), record(may=RATIO))
CAPACITY = record(may={"cores": COUNT, **dict.fromkeys(("requests_per_s", "low", "high"), nullable(number))})
COMPARISON = record(
    may={
        **dict.fromkeys(("system", "numerator", "denominator"), text),
        "step": choice("version", "patch", "build", "lock", "jit", "whole", "aa", "other", "best"),
        "verdict": VERDICT,
        "params": parameters,
        **dict.fromkeys(
            (
                "ratio",
                "low",
                "high",
                "p",
                "noise_floor",
                "saturation",
                "cores_in_use",
                "disturbed",
                "others",
                "dependence",
            ),
            nullable(number),
        ),
        **dict.fromkeys(("why", "obstacle"), sentence),
        **dict.fromkeys(("confounds", "notes"), array(sentence)),
        "blocks": COUNT,
        "blocks_needed": nullable(COUNT),
        "settings": array(record({"system": text, "params": parameters})),
        **dict.fromkeys(("between_services", "is_beside_others"), flag),
        "factors": record(may={**FACTORS, "service": record(may=FACTORS), "client": record(may=FACTORS)}),
        "capacity": record(may={"measured": flag, "denominator": CAPACITY, "numerator": CAPACITY, **RATIO}),
        "tails": by_name(record(may={**RATIO, "p": nullable(number), "verdict": VERDICT})),
        "far_slower": by_name(COUNT),
        "noise": by_name(number),
    }
)
comparisons = array(COMPARISON)
INTERPRETER = record(may=dict.fromkeys(("executable", "version", "build", "digest"), text))
ENVIRONMENT = record(
    may={"interpreter": INTERPRETER, "packages": by_name(text), "installed": text, "programs": by_name(text)}
)
FINGERPRINTS = record(may={"code": by_name(by_name(text)), "environments": by_name(by_name(ENVIRONMENT))})
SHARES = by_name(number)
STACK_LINE = record(
    {"function": text, "file": text, "line": COUNT, "states": SHARES},
    {"is_library": flag, "caller": text, "waits": by_name(array(COUNT))},
)


LOCK_LINE = record(
    {"owner": text, "lock": sentence, "share": number, "samples": COUNT},
    {"stack": array(record({"file": text, "line": COUNT, "function": text}))},
)


def tree(value: Any) -> None:
    """Stacks as a tree: {name, value, children}, no deeper than a sampler reads them."""
    _tree(value, DEEPEST_STACK)


def _tree(value: Any, depth: int) -> None:
    record({"name": text, "value": COUNT}, {"children": array(lambda child: _tree(child, depth - 1))})(value)
    if not depth:
        raise Misfit(shown(value), message("a tree of at most {depth} levels", depth=DEEPEST_STACK))


PROFILE = record(
    {"system": text, "runtime": text, "sentence": sentence},
    {
        "kind": text,
        "params": parameters,
        "reader": text,
        **dict.fromkeys(("rate_hz", "processes", "samples"), COUNT),
        **dict.fromkeys(("idle_share", "missed_share", "sampler_cores"), number),
        "states": SHARES,
        "batches": array(COUNT),
        "lines": array(STACK_LINE),
        "tree": tree,
        **dict.fromkeys(("watched_ns", "requests", "in_flight_ns", "waiting_ns", "stops", "stopping_ns"), COUNT),
        **dict.fromkeys(("stood_ns", "cpu_samples", "lost"), COUNT),
        "count_share": number,
        **dict.fromkeys(("contended", "stopping"), array(LOCK_LINE)),
        "moments": by_name(by_name(COUNT)),
    },
)


def moment(value: Any) -> None:
    """A time as datetime.isoformat() writes it; "" for one that has not come."""
    text(value)
    try:
        _ = value and datetime.fromisoformat(value)
    except ValueError as error:
        raise Misfit(shown(value), message("a time such as 2026-08-01T10:15:00+00:00, or empty")) from error


def run(value: Any) -> None:
    """The whole file. Of cells that are timed for a duration, the time of 1000 requests is reckoned: it must be one."""
    _RUN(value)
    if value["plan"].get("method", {}).get("duration_s") or (value["plan"].get("own") or {}).get("targets"):
        inside("cells", array(_timed), value["cells"])


def _timed(cell: Any) -> None:
    if cell["status"] == "ok" and cell.get("clients"):
        inside("wall_ns", whole(1), cell.get("wall_ns"))
        inside("answered", whole(1, 1000 * cell["wall_ns"]), cell.get("answered"))


_RUN = record(
    {
        "run_id": text,
        "started_at": moment,
        "seed": SEED,
        "command": array(text),
        "plan": plan,
        "machine": MACHINE,
        "runtimes": by_name(RUNTIME),
        "cells": array(CELL),
    },
    {
        "missing": by_name(sentence),
        "finished_at": moment,
        "spent_ns": by_name(COUNT),
        "comparisons": comparisons,
        "profiles": array(PROFILE),
        "fingerprints": FINGERPRINTS,
        "checksum": text,
    },
)
