"""The page's own texts in English: headings, table heads, captions. Other languages have the same keys."""

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    "title": "What the runtimes do",
    "skip": "Skip to the verdict",
    "contents": "Contents",
    "verdict": "Verdict",
    "nothing_compared": "One runtime was measured, so nothing is compared.",
    "range": "From setting to setting, {cause} gives from {low} x ({low_where}) to {high} x ({high_where}).",
    "why_open": "Why no verdict yet: {reasons}.",
    "validity": "Validity",
    "gate": "Check",
    "seen": "Seen",
    "passed": "passed",
    "look": "look",
    "failed": "failed",
    "not_measured": "What was not measured",
    "what": "What",
    "command_that_would": "The command that would",
    "nothing_missing": "Nothing that this page shows is missing from the run.",
    "comparisons": "All comparisons",
    "forest_caption": (
        "Ratio of completion times with its 95 % interval; right of 1 the newer side is faster. Grey band: A/A, the"
        " same runtime twice. Filled marks have a verdict, hollow ones have none. One scale, logarithmic, for all rows."
    ),
    "setting": "Setting",
    "all_settings": "All settings, geometric mean",
    "step": "Step",
    "from": "From",
    "to": "To",
    "ratio": "Ratio [95 %]",
    "ratio_plain": "Ratio",
    "verdict_word": "Verdict",
    "noise": "Noise floor",
    "why": "Why",
    "faster": "faster",
    "slower": "slower",
    "equivalent": "equivalent",
    "inconclusive": "inconclusive",
    "invalid": "invalid",
    "step_version": "version",
    "step_build": "build",
    "step_lock": "lock",
    "step_whole": "whole",
    "step_aa": "A/A",
    "step_other": "several",
    "reasons": "Reasons, p and noise floor of each comparison",
    "waterfall": "Three steps",
    "waterfall_caption": (
        "How speed gets from the first runtime to the last, step by step: each bar begins where the one above ends. 1"
        " is the speed under the first runtime; the last bar is the whole way as it was measured. A system of several"
        " settings shows their geometric mean."
    ),
    "speed": "Speed",
    "after": "after",
    "completion": "Completion time",
    "completion_caption": (
        "What a client process took for all of its requests: median over the clients, median over the blocks. Marks:"
        " each block. Less is better."
    ),
    "throughput_caption": "Requests answered in a second, median over the blocks. Marks: each block. More is better.",
    "runtime": "Runtime",
    "completion_s": "Completion [s]",
    "completion_max_s": "Slowest client [s]",
    "requests_s": "Requests/s",
    "seed_tables": "Beside the seed's record",
    "seed_note": (
        "Ours: median over the clients, in brackets the slowest client, in seconds; {blocks}. The seed's figures are"
        " another machine's (i9-13900K), one run for each, and no mark to reach."
    ),
    "seed_size": "Our cells have {ours} requests, the seed's 400,000: the seconds cannot be set against each other.",
    "seed_head": "seed: {name}",
    "sweeps": "Sweeps",
    "sweep_caption": "Line: median over the blocks. Marks: each block. {better}",
    "less_is_better": "Less is better.",
    "more_is_better": "More is better.",
    "latency": "Latency of requests",
    "latency_caption": (
        "Latency by percentile; every further nine is as wide as the one before. A curve ends where 10 requests were"
        " slower. Both axes logarithmic. Lower is better."
    ),
    "latency_us": "latency [us]",
    "percentile": "percentile of requests [%]",
    "costs": "Where the time goes",
    "costs_caption": (
        "Per request, in us, medians over the blocks: the calc loop and the rest of the service's user time, its kernel"
        " time, and waiting, from sending until the handler began (one request in 64 asks). Calc and waiting are wall"
        " time, user and kernel are CPU time: the sum is no latency."
    ),
    "calc": "calc",
    "user": "user, rest",
    "user_all": "user",
    "system_time": "kernel",
    "waiting": "waiting",
    "client_user": "client user",
    "client_system": "client kernel",
    "topology": "Topology and crossover",
    "topology_caption": "Requests answered in a second by processes x threads. More is better.",
    "crossover_caption": "One process of many threads over many processes of one thread: throughput ratio by load.",
    "memory": "Memory",
    "memory_caption": "Memory of all {side} together against the number of clients. Line: the fit whose slope is told.",
    "memory_rows_caption": "Memory at the end of a cell, median over the blocks: proportional set size of a side.",
    "memory_mib": "memory [MiB]",
    "services": "services",
    "clients": "clients",
    "services_mib": "Services [MiB]",
    "clients_mib": "Clients [MiB]",
    "cells": "Every cell",
    "cells_note": "Each line is one cell in one block, as result.json has it. Figures above lead here.",
    "filter": "Filter by text",
    "block": "Block",
    "system": "System",
    "status": "Status",
    "any": "any",
    "show_all": "Show all",
    "shown_count": "{shown} of {all} cells",
    "cell_id": "Cell",
    "wall_s": "Wall [s]",
    "p50": "p50 [us]",
    "p99": "p99 [us]",
    "p999": "p99.9 [us]",
    "service_cpu": "Service CPU [us/request]",
    "client_cpu": "Client CPU [us/request]",
    "wrong": "Wrong",
    "errors": "Errors",
    "reason": "Reason",
    "machine": "Machine and runtimes",
    "version": "Version",
    "build": "Build",
    "compiler": "Compiler",
    "flags": "Flags",
    "default_build": "default",
    "free_threaded": "free-threaded",
    "plan": "Plan, seed and command",
    "repeat": "To repeat it",
    "data": "The figures",
    "scroll": "scrolls sideways",
    "absent": "This run has none.",
    "blocks": "blocks",
    "requests": "Requests",
    "run": "Run",
    "made_of": "Every figure here comes from {file}; a runtime's name in a table leads to its cells.",
    "packages": "Packages",
    "record": "Record",
    "system_number": "System {system}",
    "cpu": "CPU",
    "cores": "Cores",
    "main_memory": "Memory",
    "os": "System",
    "kernel": "Kernel",
    "load": "Load (1, 5, 15 min)",
    "governor": "Governor",
    "nofile": "ulimit -n (open files)",
    "nproc": "ulimit -u (processes)",
    "times": "Time (UTC)",
    "plan_name": "Plan",
    "plan_blocks": "Blocks",
    "seed_number": "Seed",
    "scale": "Scale",
    "method": "Method",
    "commit": "gilscope's commit",
    "cells_ok": "Cells ok",
    "several_title": "Runs side by side",
    "several_runs": "The runs",
    "several_runtimes": "Their runtimes, with versions and builds",
    "several_apart": "What must not be compared",
    "several_alike": (
        "These runs were measured on machines of one kind and in the same way: their completion times may be compared."
    ),
    "several_none_alike": (
        "No completion time of one run may be set against one of another: machine or method are not the same."
        " Ratios and verdicts hold for the run that they are of."
    ),
    "several_some_alike": (
        "Completion times may be compared within these runs only: {groups}. Between others machine or method "
        "are not the same. Ratios and verdicts hold for the run that they are of."
    ),
    "several_may": "What else differs",
    "several_how": (
        "Runs at different times have no block in common, so a difference between two of them may be the "
        "machine's mood. Whether one is faster than another, with an interval, is said by"
    ),
    "several_no_step": "No step of a setting is in two of these runs.",
    "several_no_setting": (
        "No setting is in two of these runs with the same parameters, so there are no times to set side by side."
    ),
    "several_with": "May be compared with",
    "several_nothing": "none",
    "several_times_caption": (
        "Settings that two runs have at least, with the same parameters: median over the clients, median over"
        " the blocks. Marks: each block. Each setting has its own scale. What one run alone has is on its own"
        " page."
    ),
    "several_made_of": "Every figure here comes from the {file} of its run; each run has a page of its own.",
}
