"""Load plans from YAML files. Scalars are read as text, so 3.10 stays 3.10, and flags and files are
parsed alike.

config/flags.py, service_flags.py and commands/project.py call this module. For each mapping in a
file, expect_keys() refuses unknown keys, and parsed() parses the values by the declared Options. A
row is a system with values of its parameters. Several values of a parameter are a sweep.
"""

import json
import re
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from config import host_options as hosts
from config.host_options import layout_with
from config.options import Flags, by_key, expect_keys, fields_of, parsed
from config.plan_options import (
    BLOCKS,
    DEFAULT_RUNTIMES,
    MAX_BLOCKS,
    PLAN_OPTIONS,
    ROW,
    SLO,
    UNTIL,
)
from config.run_plan import Plan, PlanRow, Values, find_system, parse_values, values_used_by
from config.text_yaml import read_yaml
from config.user_service.service import CLIENTS, THREADS, WORKERS
from config.user_service.service_plan import user_service_plan
from core.cell import PARAMETERS, knobs_in
from core.messages import AND, BadInput, listed, message
from core.method import POISSON, SAME, Method, cores_usable
from core.runtime import NATIVE
from core.user_service import VARIANT
from experiments import plans
from record.saved_plan import Until

# the folder of the plans that come with gilscope
FOLDER = Path(__file__).parent
# the options at the top level of a plan; ROW has the options of an entry of `rows`
KEYS = (*PLAN_OPTIONS, *hosts.OPTIONS)
# the parameters that the key `topology` of a row sets together
TOPOLOGY = (WORKERS, THREADS)
DEFAULT_BLOCKS = 12  # enough for a verdict on each of 72 comparisons (analysis.significance)
# The duration of a search (--slo), which must have one. lab/run/measure.py sizes each probe itself.
CLOSED_LOOP_S = 2.0
# for a user's service; these values replace those of the plan, and flags replace these values
CONNECTIONS_OF_A_SEARCH: Values = {"NUM_CLIENTS": (1,), "NUM_CONNECTIONS_PER_CLIENT": (64,)}


def experiments() -> dict[str, Path]:
    """Return the files of the plans that come with gilscope, by name."""
    return {
        path.stem: path
        for path in sorted((*FOLDER.glob("*.yaml"), *plans()), key=attrgetter("stem"))
    }


def load_experiment(name: str | None, cores: int | None = None) -> Plan:
    """Return the plan *name* that comes with gilscope. Raises BadInput, which lists all names, if
    it does not exist.

    cores: see load_plan()
    """
    paths, name = experiments(), "default" if name is None else name
    if name not in paths:
        raise BadInput(
            "There is no experiment {name!r}. Choose one of {names}.", name=name, names=paths
        )
    return load_plan(paths[name], cores)


def load_plan(path: Path, cores: int | None = None) -> Plan:
    """Return the plan in a YAML file. Raises BadInput that names the file, the key, its value and
    what is accepted.

    cores: number of cores that a topology uses; None for the number of this machine
    """
    content, cores = read_yaml(path, "--plan"), cores or cores_usable()
    try:
        expect_keys(message("the plan"), content, by_key(KEYS))
        plan = _base(path, content, _parameters(content.get("parameters", {}), cores), cores)
        return plan_with(replace(plan, name=path.stem), parsed(KEYS, content, path.parent))
    except BadInput as error:
        raise BadInput("{path}: {error}", path=path, error=error.message) from error


def plan_with(plan: Plan, values: Flags) -> Plan:
    """Return *plan* with the given option *values*. If `until` is given without `blocks`, allow
    MAX_BLOCKS blocks.

    values: parsed options by field name: fields of Plan, Method and Layout, `pin` and `budget_s`.
    Raises BadInput if options contradict each other.
    """
    if "objectives" in values:
        plan, values = _prepare_search(plan, values)
    if "budget_s" in values:
        values = _with_budget(plan, values)
    limit = {"blocks": MAX_BLOCKS} if "until" in values else {}
    pins = {f"pin_{side}": cpus for side, cpus in values.get("pin", {}).items()}
    return replace(
        plan,
        **{**limit, **fields_of(Plan, values)},
        method=replace(plan.method, **fields_of(Method, values), **pins),
        layout=layout_with(plan.layout, values),
    )


def _with_budget(plan: Plan, values: Flags) -> Flags:
    """Return option values for a run that halves its settings until a time is over.
    Raises BadInput.
    """
    if SLO.field in values:
        raise BadInput(
            "--budget does not limit the search for a rate (--slo). Leave out --budget or --slo."
        )
    flags_given = [option.flag for option in (BLOCKS, UNTIL) if option.field in values]
    if flags_given:
        raise BadInput(
            "--budget says when the run ends. Leave out {flags}.", flags=listed(flags_given, AND)
        )
    settings = {json.dumps(cell.params) for cell in plan.cells()}
    if len(settings) < 2:
        raise BadInput(
            "--budget chooses the best of several settings, but the plan has only one. Add --vary "
            "or --topology."
        )
    return {**values, "until": Until(seconds=values["budget_s"]), "picks": True}


def _prepare_search(plan: Plan, values: Flags) -> tuple[Plan, Flags]:
    """Return the plan and option values for a search of the highest rate: random arrivals and
    enough connections.
    """
    if plan.user_service and plan.user_service.targets:
        raise BadInput(
            "--slo starts the service again for each rate, so it cannot be used "
            "with a service that already runs. Give --app or --service-command."
        )
    client = plan.method.client_runtime
    if client == SAME and all(system.native_client for system in plan.systems.values()):
        client = NATIVE
    rows = plan.rows
    if plan.user_service:
        rows = tuple(replace(row, values={**row.values, **CONNECTIONS_OF_A_SEARCH}) for row in rows)
    plan = replace(
        plan,
        rows=rows,
        method=replace(plan.method, client_runtime=client, duration_s=CLOSED_LOOP_S),
    )
    # the search chooses among topologies, or among the values of a setting (--vary)
    picks = len(rows) > 1 and all(row.fixed for row in rows)
    different = {
        (name, value)
        for row in rows
        for name in knobs_in(row.values)
        for value in row.values[name]
        if name != VARIANT
    }
    # More pairs than names: a setting has several values. Variants are compared, not chosen among.
    picks |= len(different) > len({name for name, _ in different})
    # *values* override the arrivals, but not the number of blocks
    return plan, {"arrivals": POISSON, **values, "blocks": 1, "picks": picks}


def _base(path: Path, content: Flags, defaults: Values, cores: int) -> Plan:
    """Return a plan with the rows or the user's service that *content* describes. Other fields have
    their defaults.
    """
    rows = content.get("rows")
    if "service" in content:
        for key in ("rows", "view"):
            if key in content:
                raise BadInput(
                    "The plan has both {key} and service. Remove one of the two keys.", key=key
                )
        return user_service_plan(content["service"], path.parent, defaults)
    if not isinstance(rows, list) or not rows:
        raise BadInput(
            "The list `rows` is missing or empty. It must have at least one row, such as `- "
            "system: 4`."
        )
    return Plan(
        name=path.stem,
        rows=tuple(row for given in rows for row in _rows(given, defaults, path.parent, cores)),
        runtimes=DEFAULT_RUNTIMES,
        blocks=DEFAULT_BLOCKS,
    )


def _parameters(given: Any, cores: int) -> Values:
    expect_keys(message("parameters"), given, tuple(PARAMETERS))
    return {
        name: parse_values(name, _with_core_counts(value, cores)) for name, value in given.items()
    }


def _with_core_counts(given: Any, cores: int) -> Any:
    """Return a parameter's value. Replace `cores` by the number of cores, and `2 x cores` by twice
    that number.
    """
    if isinstance(given, list):
        return [_with_core_counts(value, cores) for value in given]
    match = re.fullmatch(r"(?:([1-9][0-9]?) x )?cores", str(given))
    return str(int(match[1] or 1) * cores) if match else given


def _rows(given: Any, defaults: Values, folder: Path, cores: int) -> list[PlanRow]:
    expect_keys(message("an entry in the plan's list `rows`"), given, (*by_key(ROW), *PARAMETERS))
    names = given.get("system", [])
    if names == []:
        raise BadInput(
            "Entry {row} of the list `rows` has no system. Add a system, such as `system: 4`.",
            row=repr(given),
        )
    values = _parameters(
        {name: value for name, value in given.items() if name in PARAMETERS}, cores
    )
    names = names if isinstance(names, list) else [names]
    systems = [find_system(str(name), folder) for name in names]
    about = parsed(ROW, given, folder)
    rows = []
    for system in systems:
        for shape in _topologies(given, defaults, cores):
            own = {**values, **shape}
            for name in own:
                if not system.takes(name):
                    raise BadInput(
                        "System {key} does not use {name}. Give only what this system uses: "
                        "{reads}.",
                        name=name,
                        key=system.key,
                        reads=system.parameters,
                    )
            row = PlanRow(
                system=system,
                values={**values_used_by(system, defaults), **own},
                title=str(given.get("title", "")),
                fixed=TOPOLOGY if shape else (),
                runtimes=about.get("runtimes"),
            )
            rows.append(row)
    return rows


def _topologies(given: Flags, defaults: Values, cores: int) -> list[Values]:
    """Return the parameters of each combination of services and workers that `topology: cores`
    compares: (cores, 1), then half as many services from pair to pair, to (1, cores), and (1, 25).

    25 workers are the default of a system. Without a topology, the only combination sets nothing.
    """
    if "topology" not in given:
        return [{}]
    for name in TOPOLOGY:
        if name in given:
            raise BadInput(
                "An entry in the plan's list `rows` has the key topology, which already sets "
                "{name}. Remove {name} from this entry.",
                name=name,
            )
    # two clients per core, and at least 4, unless the plan sets their number
    clients = {} if CLIENTS in given or CLIENTS in defaults else {CLIENTS: (max(4, 2 * cores),)}
    services = [cores]
    while services[-1] > 1:
        services.append(services[-1] // 2)
    shapes = [*((number, cores // number) for number in services), (1, 25)]
    return [
        {WORKERS: (number,), THREADS: (workers,), **clients}
        for number, workers in dict.fromkeys(shapes)
    ]
