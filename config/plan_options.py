"""Declare the options of a plan and of a run: what is measured, how, under which runtimes, and what
is printed.

config/flags.py makes flags of these Options, config/load.py makes keys of plans, and the docs make
tables. The *field* of an option is a field of Plan (config/run_plan.py) or Method (core/method.py).
The order in a tuple is the order in the help. The texts of BLOCKS, UNTIL, WARMUP and DURATION name
defaults that are set in config/load.py, default.yaml, user_service/service_plan.py,
commands/estimate.py and commands/project.py.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from config.options import (
    PYTHON,
    STARTED,
    SYSTEMS,
    TIMES_S,
    Given,
    Kind,
    Option,
    applying,
    parse_length,
    percentage,
    whole,
)
from config.sidecar_options import PREPARE, WITH
from core.languages import LANGUAGES
from core.messages import message
from core.method import ARRIVALS, SAME, SIZES_BYTES, Warmup, parse_duration
from core.objective import Objective
from core.program import RUNS_FOLDER
from core.runtime import RuntimeName
from experiments import plans
from record.saved_plan import Until

# a plan with so many blocks has no limit of blocks: another condition ends the run
MAX_BLOCKS = 10_000
DEFAULT_RUNTIMES = tuple(map(RuntimeName, ("3.11", "3.14", "3.14t+gil", "3.14t")))
# the kinds of comparisons of two runtimes that --judged-steps accepts (analysis/steps.py)
STEPS = ("version", "patch", "build", "lock", "jit", "whole", "other")
# experiments whose plans may have a report of their own
VIEWS = tuple(path.stem for path in plans())
MOST_SEED = 10**18 - 1  # Given.whole() reads at most 18 digits
# kinds of profiles (record/saved_run.py uses this name for a folder)
PROFILES = ("python", "locks")
MOST_MARGIN = 0.5  # a share: 50 %
LEAST_CPUS = 0.01  # cores; the kernel takes no quota below 1 ms of 100 ms
MOST_SLOWER = 10.0  # a share of the time: 1000 % more
# how the arms of a cell follow each other (--order)
ORDERS = IN_SLICES, SEQUENTIAL = "slices", "sequential"


def parse_runtimes(given: Given) -> tuple[RuntimeName, ...]:
    """Parse runtime names from a list, or a text with commas. Raises BadInput."""
    return given.items(
        lambda item: RuntimeName(item.value),
        "a list of runtimes, such as {examples}",
        examples=DEFAULT_RUNTIMES,
    )


def several_of(names: tuple[str, ...]) -> Callable[[Given], tuple[str, ...]]:
    """Return a parser for several of *names*, as a list or a text with commas."""
    return lambda given: given.items(
        lambda item: item.choice(names), "a list of one or more of {names}", names=names
    )


def parse_until(given: Given) -> Until:
    """Parse when a run stops: 'verdict', '3%', '600s', '10min', or several with commas. Raises
    BadInput.
    """
    limits: dict[str, Any] = {}
    for part in map(str.strip, str(given.value).split(",")):
        kind = part if part == "verdict" else "width" if part.endswith("%") else "seconds"
        amount = (
            1.0 if part == "verdict" else replace(given, value=part).amount({"%": 1, **TIMES_S})
        )
        # amount() returns -1 for a text that it cannot read
        if kind in limits or amount <= 0:
            raise given.wrong(
                "the word verdict, a target width of the confidence intervals such as 3%, a time "
                "limit such as 10min, or several of these separated by commas"
            )
        limits[kind] = {"verdict": True, "width": amount / 100, "seconds": amount}[kind]
    return Until(**limits)


def parse_pins(given: Given) -> dict[str, tuple[int, ...]]:
    """Parse a mapping or several SIDE=CPUS for --pin. Return {"services": CPUs, "clients": CPUs}.
    Raises BadInput.
    """
    pairs = given.value if isinstance(given.value, dict) else {}
    if isinstance(given.value, list):
        parts = [str(text).partition("=") for text in given.value]
        pairs = {side: cpus for side, _, cpus in parts}
    if not pairs or not pairs.keys() <= {"services", "clients"}:
        raise given.wrong("CPUs for services, clients or both, such as services=0 clients=1")
    return {
        side: Given(value=cpus, name=f"{given.name} {side}").cpus() for side, cpus in pairs.items()
    }


def parse_names(given: Given) -> tuple[str, ...]:
    """Parse the name of a process, or a list of names. Raises BadInput."""
    if not all(
        isinstance(name, str) and name.strip() and name.isprintable() for name in given.values
    ):
        raise given.wrong(
            "the name of a process as in /proc/PID/comm, such as postgres, or a list of them"
        )
    return tuple(dict.fromkeys(given.values))


def parse_limit_cpus(given: Given) -> float:
    """Parse a number of cores, such as 2 or 0.5, up to the number of cores of this machine. Raises
    BadInput.
    """
    cores, most = given.amount({"": 1}), os.cpu_count() or 1
    if not LEAST_CPUS <= cores <= most:
        raise given.wrong(
            "a number of cores from {least} to {most}, such as 0.5", least=LEAST_CPUS, most=most
        )
    return cores


def parse_limit_memory(given: Given) -> int:
    """Parse a size such as 512MB or 1.5GiB. Return bytes. Raises BadInput."""
    size_bytes = round(given.amount(SIZES_BYTES))
    if size_bytes <= 0:
        raise given.wrong("a size with one of the units {units}, such as 512MB", units=SIZES_BYTES)
    return size_bytes


def _paths(given: Given) -> dict[RuntimeName, Path]:
    """Parse each NAME=PATH of --interpreter. Return the paths by RuntimeName.binary. Raises
    BadInput.
    """
    paths = {}
    for text in given.value:
        name, _, path = text.partition("=")
        if not path:
            raise Given(value=text, name=given.name).wrong(
                "NAME=PATH, such as 3.14+jit=/opt/jit/bin/python3.14"
            )
        paths[RuntimeName(name).binary] = Path(path)
    return paths


def _scale(given: Given) -> float:
    with suppress(ValueError):
        if 0 < (scale := float(given.value)) <= 1:
            return scale
    raise given.wrong("a number above 0 and at most 1")


def _named(parse: Callable[[str, str], Kind]) -> Callable[[Given], Kind]:
    """Return a parser for a function whose errors name the flag or key."""
    return lambda given: parse(str(given.value), given.name)


EXPERIMENT = Option(
    "--experiment NAME",
    "A plan that comes with gilscope. For your own service, only the plan's runtimes and method "
    "are used.",
    applies_to=PYTHON,
)
CHOICE = (
    EXPERIMENT,
    *applying(
        SYSTEMS,
        Option("--plan FILE", "Your own plan, a YAML file.", beside_resume=True),
        Option(
            "--system N",
            "Systems to measure: 1 to 4, a name, FILE.py or all. Separate several systems with "
            "commas. With a plan, gilscope measures only these systems of the plan.",
        ),
    ),
)
RUNTIMES = Option(
    "--runtime NAMES",
    "Runtimes to compare, such as 3.14,3.14t. The first one that is installed is the base of all "
    "ratios.",
    parse_runtimes,
    PYTHON,
    "runtimes",
)
INTERPRETER = Option(
    "--interpreter NAME=PATH",
    "The interpreter for a runtime, such as 3.14+jit=/opt/jit/bin/python3.14.",
    _paths,
    repeated=True,
    beside_resume=True,
)
BLOCKS = Option(
    "--blocks N",
    "The number of blocks (default: 12; your own service: 8). A block measures every runtime at "
    "every setting once.",
    whole(1, MAX_BLOCKS),
    beside_resume=True,
)
UNTIL = Option(
    "--until W",
    "When to stop: verdict, 3%, 10min, or several separated by commas. verdict: every comparison "
    "has a verdict. 3%: no confidence interval is wider than 3%. 10min: after 10 minutes at most. "
    "The default is verdict,5min, or verdict,3min for your own service; a plan file has no "
    "default.",
    parse_until,
)
BUDGET = Option(
    "--budget T",
    "Find the best setting under each runtime within this time, such as 10min: after every fourth "
    "block, the slower half of the settings is dropped. Give the settings with --vary or "
    "--topology.",
    parse_length("10min"),
    STARTED,
    field="budget_s",
)
FAIL_IF_SLOWER = Option(
    "--fail-if-slower SHARE",
    "Fail if the last runtime is slower than the first. SHARE is the tolerated increase in time, "
    "such as 5%. The exit status is then 3, or 1 if the result is unclear.",
    percentage(MOST_SLOWER),
    PYTHON,
)
WARMUP = Option(
    "--warmup W",
    "Warm-up per measurement, such as 10% (of requests), 0.5s or 0 (default: 0.2s; your own "
    "service: 10%; plan file: 0).",
    _named(Warmup.parse),
)
DURATION = Option(
    "--duration S",
    "Seconds per measurement (default: 1; your own service: 2; plan file: 0). 0 means a fixed "
    "number of requests.",
    _named(parse_duration),
    field="duration_s",
)
AA = Option(
    "--aa",
    "Measure the last runtime twice to show the noise. If the services already run, measure the "
    "first service twice.",
    Given.truth,
)
CLIENTS = Option(
    "--client-runtime NAME",
    "The runtime of all clients, such as native (default: the service's runtime; for your own "
    "service, native if it is built, otherwise gilscope's Python).",
    lambda given: SAME if given.value == SAME else RuntimeName(str(given.value)),
)
SEED = Option(
    "--seed N",
    "The seed of the random order of the measurements. The same seed gives the same order "
    "(default: a random seed).",
    whole(0, MOST_SEED),
)
OUT = Option(
    "--out DIR", message("The run's folder (default: a new one in {folder}).", folder=RUNS_FOLDER)
)
RESUME = Option("--resume DIR", "Continue the run that is saved in DIR.", beside_resume=True)
SLO = Option(
    "--slo OBJECTIVES",
    "Find the highest rate that meets these objectives. Examples are p99<50ms and "
    "p99<50ms,errors<0.1%.",
    lambda given: given.items(_named(Objective.parse), "a list of objectives, such as p99<50ms"),
    field="objectives",
)
PROFILE = Option(
    "--profile KINDS",
    "Also take profiles: python, locks, or python,locks. At the end of the run, each "
    "measurement is repeated once per kind of profile.",
    several_of(PROFILES),
    beside_resume=True,
)
JSON = Option("--json", "Print JSON instead of text.", beside_resume=True)
QUIET = Option("--quiet", "Print only failures and the folder of the run.", beside_resume=True)
LANG = Option(
    "--lang NAME",
    "The language of all output: en (default) or zh.",
    choices=tuple(LANGUAGES),
    beside_resume=True,
)

METHOD = (
    BLOCKS,
    UNTIL,
    BUDGET,
    Option(
        "--margin M",
        "The largest difference that a verdict still treats as no difference (default: 3%).",
        percentage(MOST_MARGIN),
    ),
    Option(
        "--judged-steps NAMES",
        "Give a verdict only on these comparisons of two runtimes (default: all). Example: "
        "lock,whole (lock: effect of the GIL; whole: last runtime compared with the first). Other "
        "comparisons are shown without a verdict.",
        several_of(STEPS),
        PYTHON,
    ),
    FAIL_IF_SLOWER,
    WARMUP,
    DURATION,
    Option(
        "--order ORDER",
        "The order of the runtimes: slices or sequential. slices: runtimes take turns many "
        "times per second (default, if possible). sequential: one runtime after the other.",
        field="arm_order",
        choices=ORDERS,
    ),
    SLO,
    Option(
        "--arrivals KIND",
        "The spacing of requests at a fixed rate: uniform or poisson. The default is uniform, or "
        "poisson with --slo.",
        field="arrivals",
        choices=ARRIVALS,
    ),
    AA,
    CLIENTS,
    Option(
        "--pin SIDE=CPUS",
        "Pin services and clients to CPUs, such as services=0 clients=1-3.",
        parse_pins,
        several=True,
    ),
    Option(
        "--neighbour NAME",
        "A process that the service uses, such as postgres. Its CPU time is shown separately and "
        "does not count as noise.",
        parse_names,
        field="neighbours",
        repeated=True,
    ),
    Option(
        "--cpus N",
        "Limit all services of a measurement together to N cores of CPU time, such as 2 or 0.5 "
        "(Linux only).",
        parse_limit_cpus,
        field="limit_cpus",
    ),
    Option(
        "--memory SIZE",
        "Limit the memory of all services of a measurement together, such as 512MB or 1GiB (Linux "
        "only).",
        parse_limit_memory,
        field="limit_memory_bytes",
    ),
    WITH,
    PREPARE,
)
MEASURING = (
    Option(
        "--scale X",
        "Multiply NUM_REQUESTS_PER_CLIENT by X: above 0, at most 1 (default: 1).",
        _scale,
    ),
    *METHOD,
)
INTERPRETERS = (RUNTIMES, INTERPRETER)
OUTPUT = (SEED, OUT)
OF_A_RUN = (
    RESUME,
    Option(
        "--accept-changes",
        "Resume although code, packages or interpreters changed. No verdict combines cells from "
        "before and after the change.",
        beside_resume=True,
    ),
    PROFILE,
    JSON,
    QUIET,
)
PLAN_OPTIONS = (
    Option("rows", "What to measure: a list of systems with their parameter values."),
    Option(
        "service", "Your own service. It is measured instead of the systems in the list `rows`."
    ),
    RUNTIMES,
    *METHOD,
    Option(
        "parameters",
        "Parameter values for all systems in the list `rows`. A system ignores parameters that it "
        "does not use.",
    ),
    Option(
        "description",
        "The question that the plan answers, in one line.",
        lambda given: " ".join(str(given.value).split()),
    ),
    Option(
        "view",
        message(
            "A special report: one of {views} (default: the report that compares runtimes).",
            views=VIEWS,
        ),
        choices=VIEWS,
    ),
)
ROW = (
    Option(
        "system", "The system: a number, a name, a FILE.py next to the plan, or a list of these."
    ),
    Option("title", "The title that reports show for these systems and parameter values."),
    Option(
        "runtimes",
        "The runtimes under which these systems are measured (default: the runtimes of the plan).",
        parse_runtimes,
    ),
    Option(
        "topology",
        "cores: compare one process per core, one process with one thread per core, and "
        "combinations between these two.",
        choices=("cores",),
    ),
)
