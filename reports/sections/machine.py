"""The section "Machine and runtimes" of a report: machine, hosts, runtimes, plan, command and
parameters.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
reports/write.py also shows size_line() at the top of the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.cell_index import Row
from analysis.confounds import build_flags
from analysis.gates import ALONE
from analysis.settings import parameter_names, value_text, varying
from core.cell import PARAMETERS, Value
from core.messages import NOTHING, Message, chained, listed, message, verbatim
from core.runtime import RuntimeFacts
from record.saved_plan import Machine
from reports.document import ABSENT, Section, Table, plain_table
from reports.parts.run_words import duration_words, method_words, order_words, repeat_command
from reports.view import View

PLACE = 210  # in the order of sections (reports/sections/__init__.py)
OF_SEARCHES = True  # a report on a search for the capacity has this section, too
SIZES = {  # parameters that the page shows above the verdict
    "NUM_API_SERVICES": message("services: {values}"),
    "NUM_CLIENTS": message("clients: {values}"),
    "NUM_WORKERS_PER_API_SERVICE": message("worker threads per service: {values}"),
    "NUM_THREADS_PER_CLIENT": message("threads per client: {values}"),
    "NUM_CONNECTIONS_PER_CLIENT": message("connections per client: {values}"),
    "NUM_REQUESTS_PER_CLIENT": message("requests from each client to each service: {values}"),
    "CALC_TARGET": message("loop iterations per request (CALC_TARGET): {values}"),
    "DISPATCH": message("how workers wait on connections (DISPATCH): {values}"),
    "MESSAGE_BYTES": message("message size: {values} bytes"),
    "KEEP_AWAKE": message(
        "idle cores kept awake: {values} (the CPU time of services and clients does not include "
        "the CPU time for this)"
    ),
}
MOST_VALUES = 4  # of a parameter in size_line(); of more, it has the range
DOT = message("{start} · {end}")
PLAN = message("Plan, random seed and command")
# the text of a fact; None or empty if unknown, which is shown as a dash
Fact = Message | str | None


def section(view: View) -> Section:
    """Return the report's section on the machine, hosts, runtimes, plan and parameters of a run."""
    return Section(
        "machine",
        message("Machine and runtimes"),
        folded=True,
        tables=(
            _facts_table(message("The machine"), machine_facts(view.machine)),
            *filter(None, [_hosts_table(view)]),
            runtime_table(view.run.runtimes),
        ),
        parts=(
            Section("plan", PLAN, tables=(_plan_table(view),)),
            Section("parameters", message("Parameters"), tables=_parameter_tables(view)),
        ),
    )


def size_line(view: View) -> Message:
    """Return the main parameters of a run in one line: 'services: 4 · clients: 4 / 8'."""
    parts = []
    for name, template in SIZES.items():
        texts = [_value_text(value) for value in _values(view.rows, name)]
        if not texts or (view.is_timed and name == "NUM_REQUESTS_PER_CLIENT"):
            continue
        values = verbatim(" / ".join(texts))
        if len(texts) > MOST_VALUES:
            values = message(
                "{least} to {most} ({count} values)",
                least=texts[0],
                most=texts[-1],
                count=len(texts),
            )
        parts.append(replace(template, args={"values": values}))
    return chained([*parts, duration_words(view.plan.method)], DOT)


def _values(rows: Sequence[Row], name: str) -> list[Value]:
    """Return the different values of the parameter *name* in all rows that have this parameter,
    sorted.
    """
    values = dict.fromkeys(row.params[name] for row in rows if name in row.params)
    # Integers are sorted, other values keep the order of the plan, and None is last.
    return sorted(values, key=lambda value: (value is None, value if isinstance(value, int) else 0))


def _value_text(value: Value, name: str = "") -> str:
    """Return a parameter's value as text, followed by the unit if the parameter *name* has one."""
    text = f"{value:,}" if type(value) is int else value_text(value)
    unit = PARAMETERS[name].unit if name in PARAMETERS and value is not None else ""
    return f"{text} {unit}".rstrip()


def _facts_table(name: Message, facts: Mapping[Message, Fact]) -> Table:
    """Return a table with the label and the text of each fact. A dash marks an unknown fact."""
    return plain_table(
        name, (NOTHING, NOTHING), [(label, fact or ABSENT) for label, fact in facts.items()]
    )


def machine_facts(machine: Machine) -> dict[Message, Fact]:
    """Return facts about the machine, such as its CPU and kernel, by label. Unknown facts are None
    or empty.

    Cores are shown as '2 / 8' if the run could use only 2 of 8.
    """
    cores = dict.fromkeys((machine.cores_usable, machine.cores))
    return {
        message("CPU"): machine.cpu,
        message("Cores"): " / ".join(str(count) for count in cores if count),
        message("Memory"): f"{machine.memory_bytes / 2**30:.1f} GiB"
        if machine.memory_bytes
        else None,
        message("System"): machine.os,
        message("Kernel"): machine.kernel,
        message("Load average (1, 5, 15 min)"): ", ".join(
            f"{mean:.2f}" for mean in machine.load or ()
        ),
        message("CPU frequency governor"): machine.governor,
        message("gilscope's commit"): machine.commit,
        message("ulimit -n (open files)"): str(machine.limits.get("nofile_soft", "")),
        message("ulimit -u (processes)"): str(machine.limits.get("nproc_soft", "")),
    }


def _hosts_table(view: View) -> Table:
    """Return a table of the hosts of a run: role, hardware and network; empty if the run used one
    machine.
    """
    layout, lines = view.plan.layout or ALONE, []
    for name, facts in view.machine.hosts.items():
        roles = (
            (message("services"), (layout.services_on,)),
            (message("clients"), layout.clients_on),
        )
        runtimes = ", ".join(
            f"{runtime} ({version})" for runtime, version in facts.runtimes.items()
        )
        network: tuple[Fact, Fact] = (ABSENT, ABSENT)
        if link := facts.link:
            network = (
                message("{microseconds:.0f} us", microseconds=link["median_ns"] / 1e3),
                message("{rate:.0f} MB/s", rate=link["bytes_per_s"] / 1e6),
            )
        lines.append(
            (
                name,
                listed(role for role, hosts in roles if name in hosts),
                *(str(fact or ABSENT) for fact in (facts.cpu, facts.cores, facts.kernel)),
                runtimes or ABSENT,
                *network,
            )
        )
    heads = (
        message("Host"),
        message("Role"),
        message("CPU"),
        message("Cores"),
        message("Kernel"),
        message("Runtimes"),
        message("Round trip to the services"),
        message("Bandwidth to the services"),
    )
    return plain_table(message("Hosts"), heads, lines, kind="facts")


def runtime_table(runtimes: Mapping[str, RuntimeFacts]) -> Table:
    """Return a table of all runtimes: version, build, compiler, flags and packages."""
    heads = (
        message("Runtime"),
        message("Version"),
        message("Build"),
        message("Compiler"),
        message("Build flags"),
        message("Packages"),
    )
    builds = {True: message("free-threaded"), False: message("default (with GIL)")}
    lines: list[tuple[Fact, ...]] = []
    for name, facts in runtimes.items():
        build = builds[facts.gil_disabled_build] if facts.version else ABSENT
        packages = ", ".join(f"{package} {version}" for package, version in facts.installed.items())
        flags = build_flags(facts.flags) or ABSENT
        lines.append(
            (name, facts.version or ABSENT, build, facts.compiler or ABSENT, flags, packages)
        )
    return plain_table(message("Runtimes"), heads, lines, kind="facts")


def _plan_table(view: View) -> Table:
    """Return a table of the plan, the seed, the method and the command that repeats the run."""
    run, plan = view.run, view.plan
    scale = message("Scale factor of the number of requests")
    what = Message(msgid=plan.description)
    facts: dict[Message, Fact] = {
        message("Run"): run.run_id,
        message("Time (UTC)"): f"{run.started_at} - {run.finished_at or '...'}",
        message("Plan"): message("{name}: {value}", name=plan.name, value=what)
        if what
        else plan.name,
        message("Blocks"): str(plan.blocks),
        message("Random seed"): str(run.seed),
        **({scale: f"{plan.scale:g}"} if not plan.method.duration_s else {}),
        message("Method"): method_words(plan.method),
        **({message("Order of measurement"): order} if (order := order_words(view)) else {}),
        message("Command to repeat the run"): repeat_command(run),
    }
    return _facts_table(PLAN, facts)


def _parameter_tables(view: View) -> tuple[Table, Table]:
    """Return two tables: parameters that differ between settings, and parameters with one value in
    all settings.
    """
    differing = varying(view.rows)
    settings: list[tuple[Fact, ...]] = []
    for row, *_ in view.groups if differing else ():
        values = {name: _value_text(value, name) for name, value in row.params.items()}
        texts = (values.get(name, ABSENT) for name in differing)
        settings.append((row.title or view.settings.head(row.system), *texts))
    same: list[tuple[Fact, ...]] = []
    left_out = {*differing}
    if view.plan.user_service and view.is_timed:
        left_out.add("NUM_REQUESTS_PER_CLIENT")
    for name in parameter_names(view.rows):
        if name not in left_out:
            meaning = PARAMETERS[name].help if name in PARAMETERS else NOTHING
            same.append((name, _value_text(_values(view.rows, name)[0], name), meaning))
    title, heads = message("Parameters that differ between settings"), (message("Setting"),)
    return (
        plain_table(title, heads, settings, map(verbatim, differing), kind="settings", titled=True),
        plain_table(
            message("Parameters with the same value in all settings"),
            (message("Parameter"), message("Value"), message("Meaning")),
            same,
            kind="parameters",
            titled=True,
        ),
    )
