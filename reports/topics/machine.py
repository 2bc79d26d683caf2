"""Where and how it was measured: machine, runtimes with their builds, plan, seed, command and parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.cell import PARAMETERS, Value
from core.hosts import Layout
from core.messages import NOTHING, Message, listed, message, verbatim
from core.method import SAME, Method
from core.saved import Machine
from reports.document.model import ABSENT, Section, Table, plain_table
from reports.facts.builds import build_flags, packages
from reports.facts.cells import Row
from reports.facts.commands import repeat_command
from reports.facts.settings import value_text
from reports.view import View

PLACE = 210
SIZES: Mapping[str, Message] = {  # what a reader asks first
    "NUM_API_SERVICES": message("services: {values}"),
    "NUM_CLIENTS": message("clients: {values}"),
    "NUM_WORKERS_PER_API_SERVICE": message("worker threads of a service: {values}"),
    "NUM_THREADS_PER_CLIENT": message("threads of a client: {values}"),
    "NUM_CONNECTIONS_PER_CLIENT": message("connections of a client: {values}"),
    "NUM_REQUESTS_PER_CLIENT": message("requests of a client to a service: {values}"),
    "CALC_TARGET": message("CALC_TARGET {values}"),
    "DISPATCH": message("DISPATCH {values}"),
    "MESSAGE_BYTES": message("message: {values} bytes"),
    "KEEP_AWAKE": message(
        "idle cores held awake: {values} (CPU time of services and clients is their own all the same)"
    ),
}
MOST_VALUES = 4
DOT, PACKAGES = message("{start} · {end}"), message("Packages")


def section(view: View) -> Section:
    """Everything about a run that is no measurement."""
    parameters = (_varying(view), _common(view))
    return Section(
        key="machine",
        title=message("Machine and runtimes"),
        tables=(_machine(view.machine), *_hosts(view), runtime_table(view.run.runtimes)),
        parts=(
            Section(key="plan", title=message("Plan, seed and command"), tables=(_plan(view),)),
            Section(key="parameters", title=message("Parameters"), tables=parameters),
        ),
    )


def size_line(view: View) -> Message:
    """'services: 4 · clients: 4 · CALC_TARGET 1,000'; several values of one parameter with strokes between."""
    duration_s = view.plan.method.duration_s
    sizes = {name: _values(view.rows, name) for name in SIZES if not (duration_s and name == "NUM_REQUESTS_PER_CLIENT")}
    parts = [replace(SIZES[name], args={"values": _values_words(values)}) for name, values in sizes.items() if values]
    timed = [message("each cell for {seconds:g} s", seconds=duration_s)] if duration_s else []
    return listed([*parts, *timed], DOT)


def _values(rows: Sequence[Row], name: str) -> list[Value]:
    """The values of a parameter in all rows that have it, each once, in order."""
    values = dict.fromkeys(row.params[name] for row in rows if name in row.params)
    return sorted(values, key=lambda value: (value is None, value if isinstance(value, int) else 0))


def _values_words(values: Sequence[Value]) -> Message:
    texts = [_value_text(value) for value in values]
    if len(texts) <= MOST_VALUES:
        return verbatim(" / ".join(texts))
    return message("{least} to {most} ({count} values)", least=texts[0], most=texts[-1], count=len(texts))


def _value_text(value: Value, unit: str = "") -> str:
    text = f"{value:,}" if type(value) is int else value_text(value)
    return f"{text} {unit}" if unit and value is not None else text


def _facts(name: Message, lines: Mapping[Message, Message | str | None]) -> Table:
    """A line for each fact; a dash where it is not known."""
    return plain_table(name, (NOTHING, NOTHING), [(label, fact or ABSENT) for label, fact in lines.items()])


def _machine(machine: Machine) -> Table:
    memory, load = machine.memory_bytes, machine.load
    return _facts(
        message("The machine"),
        {
            message("CPU"): machine.cpu,
            message("Cores"): cores_text(machine),
            message("Memory"): f"{memory / 2**30:.1f} GiB" if memory else None,
            message("System"): machine.os,
            message("Kernel"): machine.kernel,
            message("Load (1, 5, 15 min)"): ", ".join(f"{mean:.2f}" for mean in load) if load else None,
            message("Governor"): machine.governor,
            message("gilscope's commit"): machine.commit,
            message("ulimit -n (open files)"): str(machine.limits.get("nofile_soft", "")),
            message("ulimit -u (processes)"): str(machine.limits.get("nproc_soft", "")),
        },
    )


def _hosts(view: View) -> tuple[Table, ...]:
    """A line for each host, where there are several; none for a run of one machine."""
    layout = view.plan.layout
    if not layout or not view.machine.hosts:
        return ()
    heads = (
        *(message("Host"), message("Role"), message("CPU"), message("Cores"), message("Kernel")),
        *(message("Runtimes"), message("Round trip to the services"), message("Bandwidth to the services")),
    )
    lines = [_host(name, facts, layout) for name, facts in view.machine.hosts.items()]
    return (plain_table(message("Hosts"), heads, lines, kind="facts"),)


def _host(name: str, facts: Mapping[str, Any], layout: Layout) -> tuple[Message | str, ...]:
    serves, calls = name == layout.services_on, name in layout.clients_on
    roles = [*([message("services")] if serves else []), *([message("clients")] if calls else [])]
    link = facts.get("link") or {}
    return (
        name,
        listed(roles),
        str(facts.get("cpu") or ABSENT),
        str(facts.get("cores") or ABSENT),
        str(facts.get("kernel") or ABSENT),
        ", ".join(f"{runtime} ({version})" for runtime, version in (facts.get("runtimes") or {}).items()) or ABSENT,
        message("{microseconds:.0f} us", microseconds=link["median_ns"] / 1e3) if link else ABSENT,
        message("{rate:.0f} MB/s", rate=link["bytes_per_s"] / 1e6) if link else ABSENT,
    )


def cores_text(machine: Machine) -> str | None:
    """How many cores, and how many of them the run could use where these are fewer; None where nobody knows."""
    if machine.cores is None:
        return None
    are_all = machine.cores_usable in (None, machine.cores)
    return str(machine.cores) if are_all else f"{machine.cores_usable} / {machine.cores}"


def runtime_table(runtimes: Mapping[str, Mapping[str, Any]]) -> Table:
    """Every interpreter, and how it was built."""
    return plain_table(
        message("Runtimes"),
        (message("Runtime"), message("Version"), message("Build"), message("Compiler"), message("Flags"), PACKAGES),
        [runtime_line(name, facts) for name, facts in runtimes.items()],
        kind="facts",
    )


def runtime_line(name: str, facts: Mapping[str, Any]) -> tuple[Message | str, ...]:
    """Name, version, build, compiler, flags, packages."""
    build = message("free-threaded") if facts.get("gil_disabled_build") else message("default")
    installed = ", ".join(f"{package} {version}" for package, version in packages(facts).items())
    return (
        name,
        facts.get("version") or ABSENT,
        build if facts.get("version") else ABSENT,
        facts.get("compiler") or ABSENT,
        build_flags(facts.get("flags", {})) or ABSENT,
        installed,
    )


def _plan(view: View) -> Table:
    """What was to be measured, and how to measure it again."""
    run, plan = view.run, view.plan
    return _facts(
        message("Plan, seed and command"),
        {
            message("Run"): run.run_id,
            message("Time (UTC)"): f"{run.started_at} - {run.finished_at or '...'}",
            message("Plan"): f"{plan.name}: {plan.description}".rstrip(": "),
            message("Blocks"): str(plan.blocks),
            message("Seed"): str(run.seed),
            message("Scale"): f"{plan.scale:g}",
            message("Method"): method_words(plan.method, is_known=bool(run.plan.get("method"))),
            message("To repeat it"): repeat_command(run),
        },
    )


def method_words(method: Method, *, is_known: bool = True) -> Message:
    """How cells were measured, as far as a choice was made: warm-up, duration, whose runtime clients have, CPUs."""
    own = message("clients run under the service's runtime")
    client = (
        own if method.client_runtime == SAME else message("clients run under {runtime}", runtime=method.client_runtime)
    )
    services, clients = (", ".join(map(str, cpus)) for cpus in (method.pin_services, method.pin_clients))
    choices = (
        (method.warmup.share, message("warm-up of {share:.0%} of the requests", share=method.warmup.share)),
        (method.warmup.seconds, message("warm-up of {seconds:g} s", seconds=method.warmup.seconds)),
        (method.duration_s, message("each cell for {seconds:g} s", seconds=method.duration_s)),
        (is_known, client),
        (services, message("services on CPU {cpus}", cpus=services)),
        (clients, message("clients on CPU {cpus}", cpus=clients)),
    )
    return listed(words for is_chosen, words in choices if is_chosen)


def _names(rows: Sequence[Row]) -> list[str]:
    """The parameters that the rows have, in the order of declaration."""
    there = {name for row in rows for name in row.params}
    return [*(name for name in PARAMETERS if name in there), *sorted(there - set(PARAMETERS))]


def _common(view: View) -> Table:
    """A line for each parameter that is the same in every setting that reads it."""
    values = {name: _values(view.rows, name) for name in _names(view.rows)}
    return plain_table(
        message("The same in every setting that reads it"),
        (message("Parameter"), message("Value"), message("Meaning")),
        [(name, _value_text(same[0], _unit(name)), _meaning(name)) for name, same in values.items() if len(same) < 2],
        kind="parameters",
        titled=True,
    )


def _unit(name: str) -> str:
    return PARAMETERS[name].unit if name in PARAMETERS else ""


def _meaning(name: str) -> Message | str:
    text = PARAMETERS[name].help if name in PARAMETERS else ""
    return text if isinstance(text, Message) else Message(msgid=text)


def _varying(view: View) -> Table:
    """A line for each setting, with its own value of each parameter that is not the same in all of them."""
    names = [name for name in _names(view.rows) if len(_values(view.rows, name)) > 1]
    lines = [_setting(rows[0], names, view) for rows in view.groups] if names else []
    heads, numbers = (message("Setting"),), map(verbatim, names)
    return plain_table(message("Of each setting"), heads, lines, numbers, kind="settings", titled=True)


def _setting(row: Row, names: Sequence[str], view: View) -> tuple[Message | str, ...]:
    values = (_value_text(row.params[name], _unit(name)) if name in row.params else ABSENT for name in names)
    return row.title or view.settings.head(row.system), *values
