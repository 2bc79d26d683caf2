"""The options of a plan and of a run: how much, how it is measured, under which runtimes, where it is saved."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from config.beside import PREPARE, WITH
from config.options import PYTHON, SYSTEMS, Given, Option, applying, whole
from core.languages import LANGUAGES
from core.messages import listed, message
from core.method import SAME, Warmup, parse_duration
from core.program import RUNS_FOLDER
from core.runtime import RuntimeName
from core.saved import Until
from experiments import plans

MAX_BLOCKS = 10_000
DEFAULT_RUNTIMES = ("3.11", "3.14", "3.14t+gil", "3.14t")
STEPS = ("version", "patch", "build", "lock", "jit", "whole", "other")
VIEWS = (*(path.stem for path in plans()), "targets")
LONGEST_SEED = 18
PROFILES = ("perf", "python", "locks", "memory")
MOST_MARGIN = 0.5
MOST_SLOWER = 1_000
ORDERS = IN_SLICES, SEQUENTIAL = "slices", "sequential"
_PER_UNIT = {"%": 100, "s": 1, "min": 1 / 60, "h": 1 / 3600}


def parse_runtimes(given: Given) -> tuple[str, ...]:
    """Parse runtime names from a list, or a text with commas. Raises BadInput."""
    names = given.items(message("a list of runtimes, such as {examples}", examples=listed(DEFAULT_RUNTIMES)))
    return tuple(dict.fromkeys(str(RuntimeName.parse(name)) for name in names))


def parse_steps(given: Given) -> tuple[str, ...]:
    """Parse names of steps from a list, or a text with commas. Raises BadInput."""
    names = given.items(message("a list of steps, out of {names}", names=listed(STEPS)))
    return tuple(dict.fromkeys(replace(given, value=name).choice(STEPS) for name in names))


def parse_until(given: Given) -> Until:
    """Parse 'verdict', '3%', '600s', '10min' or several of them with commas. Raises BadInput."""
    limits: dict[str, Any] = {}
    for part in map(str.strip, str(given.value).split(",")):
        match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]+)?) *(%|s|min|h)", part)
        kind = part if part == "verdict" else "width" if match is not None and match[2] == "%" else "seconds"
        if kind in limits or (part != "verdict" and (match is None or float(match[1]) == 0)):
            raise given.wrong(message("verdict, a width of the intervals such as 3%, a time such as 10min, or several"))
        limits[kind] = match is None or float(match[1]) / _PER_UNIT[match[2]]
    return Until(**limits)


def parse_margin(given: Given) -> float:
    """Return 0.03 for '3%'. Raises BadInput."""
    accepted = message("a share above 0 % and at most {most:.0%}, such as 3%", most=MOST_MARGIN)
    return given.percent(MOST_MARGIN * 100, accepted)


def parse_slower(given: Given) -> float:
    """Return 0.05 for '5%' more time. Raises BadInput."""
    accepted = message("a share of more time, above 0 % and at most {most} %, such as 5% or 0.5%", most=MOST_SLOWER)
    return given.percent(MOST_SLOWER, accepted)


def parse_pins(given: Given) -> dict[str, tuple[int, ...]]:
    """Return {"services": CPUs, "clients": CPUs} of a mapping, or of several SIDE=CPUS. Raises BadInput."""
    pairs = given.value if isinstance(given.value, dict) else {}
    if isinstance(given.value, list):
        pairs = {side: cpus for side, _, cpus in (str(text).partition("=") for text in given.value)}
    if not pairs or not pairs.keys() <= {"services", "clients"}:
        raise given.wrong(message("CPUs for services, clients or both, such as services=0 clients=1"))
    return {side: Given(value=cpus, name=f"{given.name} {side}").cpus() for side, cpus in pairs.items()}


def parse_names(given: Given) -> tuple[str, ...]:
    """Parse the name of a process, or a list of names. Raises BadInput."""
    names = given.value if isinstance(given.value, list) else [given.value]
    if not all(isinstance(name, str) and name.strip() and name.isprintable() for name in names):
        raise given.wrong(message("the name of a process as in /proc/PID/comm, such as postgres, or a list of them"))
    return tuple(dict.fromkeys(names))


def _paths(given: Given) -> dict[str, Path]:
    """Return {interpreter: path} of every NAME=PATH. Raises BadInput."""
    paths = {}
    for text in given.value:
        name, _, path = text.partition("=")
        if not path:
            raise Given(value=text, name=given.name).wrong(
                message("NAME=PATH, such as 3.14+jit=/opt/jit/bin/python3.14")
            )
        paths[RuntimeName.parse(name).binary] = Path(path)
    return paths


def _scale(given: Given) -> float:
    try:
        return float(given.value)
    except ValueError:
        raise given.wrong(message("above 0 and at most 1")) from None


def _client_runtime(given: Given) -> str:
    return SAME if given.value == SAME else str(RuntimeName.parse(str(given.value)))


def _seed(given: Given) -> int:
    if not (given.value.isascii() and given.value.isdigit() and len(given.value) <= LONGEST_SEED):
        raise given.wrong(message("a whole number of at least 0"))
    return int(given.value)


def _read(parse: Callable[[str], Any]) -> Callable[[Given], Any]:
    return lambda given: parse(str(given.value))


def _profiles(given: Given) -> tuple[str, ...]:
    kinds = [replace(given, value=kind.strip()).choice(PROFILES) for kind in str(given.value).split(",")]
    return tuple(dict.fromkeys(kinds))


def _flag(given: Given) -> bool:
    return given.value is True or given.choice(("true", "false")) == "true"


EXPERIMENT = Option(
    "--experiment NAME",
    message("a plan that comes with gilscope; beside --app or --service-command, how it measures"),
    applies_to=PYTHON,
)
CHOICE = (EXPERIMENT, *applying(
    SYSTEMS,
    Option("--plan FILE", message("a plan of your own, in YAML"), beside_resume=True),
    Option("--system N", message("1 to 4, names, FILE.py, several with commas, or all; of a plan, the rows to keep")),
))  # fmt: skip
RUNTIMES = Option("--runtime NAMES", message("runtimes; ratios refer to the first"), parse_runtimes, PYTHON, "runtimes")
REQUIRE = Option("--require NAMES", message("runtimes that must be installed"), parse_runtimes)
INTERPRETER = Option(
    "--interpreter NAME=PATH",
    message("the interpreter for a runtime: 3.14+jit=/opt/jit/bin/python3.14"),
    _paths,
    repeated=True,
    beside_resume=True,
)
SCALE = Option("--scale X", message("multiplies NUM_REQUESTS_PER_CLIENT: above 0, at most 1"), _scale)
BLOCKS = Option(
    "--blocks N", message("how often each cell is measured (default: 3)"), whole(1, MAX_BLOCKS), beside_resume=True
)
UNTIL = Option(
    "--until W", message("stop when all is decided (verdict), intervals are narrow (3%), or after 10min"), parse_until
)
MARGIN = Option("--margin M", message("what counts as no difference (default: 3%)"), parse_margin)
JUDGED = Option(
    "--judged-steps NAMES",
    message("steps that get a verdict, such as lock,whole; the others are shown without one (default: all steps)"),
    parse_steps,
    PYTHON,
    choices=STEPS,
)
FAIL_IF_SLOWER = Option(
    "--fail-if-slower SHARE",
    message("exit with 3 if the last runtime is slower than the first by 5% or more, with 1 if that is unclear"),
    parse_slower,
    PYTHON,
)
WARMUP = Option(
    "--warmup W", message("sent before anything counts: 10% of the requests, 0.5s, or 0"), _read(Warmup.parse)
)
DURATION = Option(
    "--duration S",
    message("seconds to time each cell; 0 for as long as its requests take"),
    _read(parse_duration),
    field="duration_s",
)
ORDER = Option(
    "--order ORDER",
    message(
        "slices: runtimes take turns many times a second (default, where possible); sequential: one after the other"
    ),
    field="arm_order",
    choices=ORDERS,
)
AA = Option("--aa", message("measure the last runtime, or the first target, twice: the difference is noise"), _flag)
CLIENTS = Option("--client-runtime NAME", message("runtime of all clients (default: the service's)"), _client_runtime)
PIN = Option(
    "--pin SIDE=CPUS", message("CPUs of services and clients: services=0 clients=1-3"), parse_pins, several=True
)
NEIGHBOUR = Option(
    "--neighbour NAME",
    message("a process that the service needs, such as postgres: its CPU time is shown apart and disturbs nothing"),
    parse_names,
    field="neighbours",
    repeated=True,
)
SEED = Option("--seed N", message("fixes the order of the cells"), _seed)
OUT = Option("--out DIR", message("folder of the run (default: a new one in {folder})", folder=RUNS_FOLDER))
RESUME = Option("--resume DIR", message("continue the run saved in DIR"), beside_resume=True)
ACCEPT_CHANGES = Option(
    "--accept-changes",
    message("continue with other code, packages or interpreters; no verdict is drawn across them"),
    beside_resume=True,
)
PROFILE = Option(
    "--profile KINDS",
    message("profile each cell once more at the end, not counted: perf, python, locks, memory, or several with commas"),
    _profiles,
    choices=PROFILES,
)
STRESS = Option("--stress", message("then look for wrong answers, crashes and hangs without the GIL, for a minute"))
JSON = Option("--json", message("print JSON in place of text"), beside_resume=True)
QUIET = Option("--quiet", message("print failures and the run's folder, nothing else"), beside_resume=True)
LANG = Option(
    "--lang NAME",
    message("language of everything printed or written: en (default) or zh"),
    choices=tuple(LANGUAGES),
    beside_resume=True,
)

METHOD = (
    BLOCKS,
    UNTIL,
    MARGIN,
    JUDGED,
    FAIL_IF_SLOWER,
    WARMUP,
    DURATION,
    ORDER,
    AA,
    CLIENTS,
    PIN,
    NEIGHBOUR,
    WITH,
    PREPARE,
)
MEASURING = (SCALE, *METHOD)
INTERPRETERS = (RUNTIMES, REQUIRE, INTERPRETER)
OUTPUT = (SEED, OUT)
OF_A_RUN = (RESUME, ACCEPT_CHANGES, PROFILE, STRESS, JSON, QUIET)
PLAN_OPTIONS = (
    Option("", message("what to measure: a list of rows"), key="rows"),
    Option("", message("a service of your own, in place of rows"), key="service"),
    RUNTIMES,
    *METHOD,
    Option("", message("values for all rows whose system reads them"), key="parameters"),
    Option("", message("what the plan answers, in one line"), key="description"),
    Option("", message("a report of its own, one of {views}", views=listed(VIEWS)), key="view", choices=VIEWS),
)
ROW = (
    Option("", message("a number, a name, a FILE.py beside the plan, or a list of them"), key="system"),
    Option("", message("what the row is about"), key="title"),
    Option("", message("the runtimes of the row (default: those of the plan)"), parse_runtimes, key="runtimes"),
    Option(
        "",
        message("cores: a sweep from processes to threads that fits this machine"),
        key="topology",
        choices=("cores",),
    ),
)
