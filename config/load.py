"""Plans from YAML files. Every scalar is read as text, so that 3.10 stays 3.10 and flags and files are parsed alike."""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from config.own import THREADS, WORKERS
from config.own_plan import own_plan
from config.plan import DEFAULT_RUNTIMES, MAX_BLOCKS, Plan, Row, Until, parse_values
from config.text_yaml import read_yaml
from core.cell import PARAMETERS
from core.errors import BadInput
from core.method import SAME, Method, Warmup, parse_cpus, parse_duration
from core.runtime import RuntimeName
from core.system import System
from core.system_file import SUFFIX
from systems import find

FOLDER = Path(__file__).parent
METHOD_KEYS = ("warmup", "duration", "client_runtime", "pin")
PLAN_KEYS = ("description", "view", "blocks", "until", "runtimes", "aa", *METHOD_KEYS, "parameters", "rows", "service")
VIEWS = ("echo", "loadgen", "http-clients", "league", "targets")
ROW_KEYS = ("system", "title", "topology")
TOPOLOGY = (WORKERS, THREADS)


def experiments() -> dict[str, Path]:
    """The plans that come with gilscope, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}


def load_experiment(name: str) -> Plan:
    """The plan config/<name>.yaml. Raises BadInput with the names there are."""
    found = experiments()
    if name not in found:
        raise BadInput(f"Experiment {name!r} is not known; accepted are {', '.join(found)}.")
    return load_plan(found[name])


def load_plan(path: Path) -> Plan:
    """The plan in a YAML file. Raises BadInput naming file, key, value and what is accepted."""
    content = read_yaml(path, "--plan")
    try:
        return _plan(path, content)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def _plan(path: Path, content: Any) -> Plan:
    _expect_mapping("the plan", content, PLAN_KEYS)
    defaults = _parameters(content.get("parameters", {}))
    base = _base(path, content, defaults)
    blocks = str(MAX_BLOCKS if "until" in content else base.blocks)
    return replace(
        base,
        name=path.stem,
        description=" ".join(str(content.get("description", "")).split()),
        blocks=_whole("blocks", content.get("blocks", blocks)),
        runtimes=parse_runtimes(content.get("runtimes", list(base.runtimes))),
        aa=_claim("aa", content.get("aa", "false")),
        until=parse_until(content["until"]) if "until" in content else Until(),
        method=parse_method({key: content[key] for key in METHOD_KEYS if key in content}, base.method),
        view=_view(content["view"]) if "view" in content else base.view,
    )


def _base(path: Path, content: Mapping[str, Any], defaults: Mapping[str, tuple[Any, ...]]) -> Plan:
    """A plan with the rows, or the service of the user's, that *content* has; all else as without a word."""
    rows = content.get("rows")
    if "service" in content:
        if rows is not None:
            raise BadInput("rows is given beside service, which is the only row; leave one of them out.")
        if "view" in content:
            raise BadInput(f"view is {content['view']!r} beside service, which has its own; leave view out.")
        return own_plan(content["service"], path.parent, defaults)
    if not isinstance(rows, list) or not rows:
        raise BadInput("rows is missing or empty; it must be a list with at least one row, such as `- system: 4`.")
    made = tuple(one for row in rows for one in _rows(row, defaults, path.parent))
    return Plan(name=path.stem, rows=made, runtimes=DEFAULT_RUNTIMES)


def _view(text: Any) -> str:
    if text not in VIEWS:
        raise BadInput(f"view is {text!r}; it must be one of {', '.join(VIEWS)}, or left out.")
    return str(text)


_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def parse_runtimes(given: Any) -> tuple[str, ...]:
    """Runtime names from a list, or a text with commas. Raises BadInput."""
    items = given.split(",") if isinstance(given, str) else given
    if not isinstance(items, list) or not items:
        raise BadInput(f"runtimes is {given!r}; it must be a list of runtimes, such as {', '.join(DEFAULT_RUNTIMES)}.")
    return tuple(dict.fromkeys(str(RuntimeName.parse(str(item).strip())) for item in items))


def parse_method(given: Mapping[str, Any], base: Method = Method()) -> Method:  # noqa: B008 - frozen
    """*base* with what *given* (texts by METHOD_KEYS) says differently. Raises BadInput."""
    changes: dict[str, Any] = {}
    if "warmup" in given:
        changes["warmup"] = Warmup.parse(str(given["warmup"]))
    if "duration" in given:
        changes["duration_s"] = parse_duration(str(given["duration"]))
    if "client_runtime" in given:
        name = str(given["client_runtime"])
        changes["client_runtime"] = name if name == SAME else str(RuntimeName.parse(name))
    if "pin" in given:
        changes |= _pins(given["pin"])
    return replace(base, **changes)


def _pins(given: Any) -> dict[str, tuple[int, ...]]:
    if not isinstance(given, dict) or not given or not given.keys() <= {"services", "clients"}:
        raise BadInput(f"pin is {given!r}; it must name services, clients or both, such as services=0 clients=1.")
    return {f"pin_{side}": parse_cpus(side, str(cpus)) for side, cpus in given.items()}


def parse_until(text: Any) -> Until:
    """From '3%', '600s', '10min' or two of them with a comma. Raises BadInput."""
    found: dict[str, float] = {}
    for part in str(text).split(","):
        match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]+)?) *(%|s|min|h)", part.strip())
        kind = "width" if match is not None and match[2] == "%" else "seconds"
        if match is None or float(match[1]) == 0 or kind in found:
            raise BadInput(
                f"until is {text}; it must be an interval's width such as 3%, a time such as 10min, or both."
            )
        number = float(match[1])
        found[kind] = number / 100 if match[2] == "%" else number * _SECONDS[match[2]]
    return Until(**found)


def _claim(name: str, text: Any) -> bool:
    if text not in ("true", "false"):
        raise BadInput(f"{name} is {text}; it must be true or false.")
    return bool(text == "true")


def _whole(name: str, text: Any) -> int:
    if not (isinstance(text, str) and re.fullmatch(r"[0-9]{1,9}", text)):
        raise BadInput(f"{name} is {text}; it must be a whole number of at least 1.")
    return int(text)


def _parameters(given: Any) -> dict[str, tuple[Any, ...]]:
    _expect_mapping("parameters", given, tuple(PARAMETERS))
    return {name: parse_values(name, value) for name, value in given.items()}


def _rows(given: Any, defaults: Mapping[str, tuple[Any, ...]], folder: Path) -> list[Row]:
    _expect_mapping("a row", given, (*ROW_KEYS, *PARAMETERS))
    if "system" not in given:
        raise BadInput(f"the row {given} names no system; give it one, such as `system: 4`.")
    asked = given["system"] if isinstance(given["system"], list) else [given["system"]]
    if not asked:
        raise BadInput(f"the row {given} names no system; give it one, such as `system: 4`.")
    own = _parameters({name: value for name, value in given.items() if name in PARAMETERS})
    title = str(given.get("title", ""))
    systems = [_system(str(name), folder) for name in asked]
    fixed = TOPOLOGY if "topology" in given else ()
    shapes = _topologies(given, defaults)
    return [_row(one, {**own, **more}, defaults, title, fixed) for one in systems for more in shapes]


def _system(asked: str, folder: Path) -> System:
    """The system with that number or name, or of a file that is looked for in *folder*, where the plan is."""
    return find(str(folder / asked) if asked.endswith(SUFFIX) else asked)


def _topologies(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[dict[str, tuple[Any, ...]]]:
    """Of `topology: cores`, what each pair of services and workers sets; nothing where a row has none."""
    if "topology" not in given:
        return [{}]
    if given["topology"] != "cores":
        raise BadInput(f"topology is {given['topology']!r}; it must be cores.")
    for name in TOPOLOGY:
        if name in given:
            raise BadInput(f"{name} is {given[name]} in a row with a topology, which sets it; leave one of them out.")
    cores = cores_usable()
    clients = {} if "NUM_CLIENTS" in given or "NUM_CLIENTS" in defaults else {"NUM_CLIENTS": (max(4, 2 * cores),)}
    return [{WORKERS: (one,), THREADS: (each,), **clients} for one, each in core_topologies(cores)]


def core_topologies(cores: int) -> list[tuple[int, int]]:
    """(services, workers per service) from cores x 1, by halves, to 1 x cores, and 1 x 25."""
    services = [cores]
    while services[-1] > 1:
        services.append(services[-1] // 2)
    return list(dict.fromkeys([(one, cores // one) for one in services] + [(1, 25)]))


def cores_usable() -> int:
    """How many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _row(
    system: System, own: Mapping[str, Any], defaults: Mapping[str, Any], title: str, fixed: tuple[str, ...]
) -> Row:
    for name in own:
        if name not in system.parameters:
            raise BadInput(f"{name} is not read by system {system.key}; it reads {', '.join(system.parameters)}.")
    read = {name: values for name, values in defaults.items() if name in system.parameters}
    return Row(system=system.key, title=title, values={**read, **own}, fixed=fixed)


def _expect_mapping(what: str, given: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(given, dict):
        raise BadInput(f"{what} is {given!r}; it must be a mapping with keys of {', '.join(keys)}.")
    for key in given:
        if key not in keys:
            raise BadInput(f"{what} has an unknown key {key!r}; accepted are {', '.join(keys)}.")
