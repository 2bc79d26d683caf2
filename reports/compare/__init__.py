"""Compare saved runs with the first of them, for the command compare (commands/compare.py). This
file describes the compared runs: their names by letter (A, B), conditions that must be equal, and
permitted differences. compared_runs.py compares their cells and makes the document that is printed
and written as a page.

commands/compare.py calls members(), and compared_runs.py uses the rest. Every key of MACHINE,
SURROUNDINGS and METHOD is a field of Machine (record/saved_plan.py) or Method (core/method.py).
A wrong key of MACHINE or METHOD would read as "unknown" in every run, and never differ.
"""

import json
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from analysis.cell_index import Row, request_ns
from analysis.confounds import UNKNOWN, build_facts, by_label, unlike
from analysis.settings import Settings
from core.messages import NOTHING, SEMICOLON, BadInput, Json, Message, listed, message, verbatim
from core.method import Warmup
from core.request_plan import RequestPlan
from reports.document import ABSENT, Section, arm
from reports.tables import Col, col, table
from reports.view import View

# Runs with another machine or method cannot be compared: a difference may not be due to the
# services.
MACHINE = {
    "cpu": message("the CPU model"),
    "cores": message("the number of cores"),
    "cores_usable": message("the number of usable cores"),
    "cores_quota": message("the CPU quota, in cores"),
}
# A difference in these is only mentioned.
SURROUNDINGS = {
    "os": message("the operating system"),
    "kernel": message("the kernel"),
    "governor": message("the frequency governor"),
    "commit": message("the commit of gilscope"),
}
# As MACHINE: runs that differ in these cannot be compared.
METHOD = {
    "warmup": message("the warm-up"),
    "duration_s": message("the duration in seconds"),
    "arrivals": message("the arrivals of requests at a fixed rate"),
    "slices": message("whether runtimes take turns in time slices"),
    "client_runtime": message("the clients' runtime"),
    "pin_services": message("the services' CPUs"),
    "pin_clients": message("the clients' CPUs"),
    "limit_cpus": message("the services' CPU limit in cores"),
    "limit_memory_bytes": message("the services' memory limit in bytes"),
}
# number of runs; each needs a letter of its own
LEAST, MOST = 2, len(ascii_uppercase)
DIGITS = 6  # of the digest of the requests
NONE = message("none")


@dataclass(frozen=True, eq=False)
class Member:
    """One of the compared runs.

    title:    the name that people see
    look:     index of the sign and colour of the run on a page
    settings: names the settings, equally in all runs
    """

    letter: str
    title: str
    look: int
    view: View
    settings: Settings

    @cached_property
    def conditions(self) -> Mapping[Message, Message]:
        """The conditions that must be equal in compared runs: {the CPU model: EPYC, the warm-up:
        none, ...}.
        """
        known = {**vars(self.view.machine), **vars(self.view.plan.method)}
        of_all = {label: _value(known.get(name)) for name, label in {**MACHINE, **METHOD}.items()}
        return {**of_all, message("the requests"): _requests(self.view.plan.own)}

    @property
    def facts(self) -> Mapping[Message, Message]:
        """The facts that may differ between compared runs, such as kernel, commit of gilscope,
        builds and packages.
        """
        facts = {
            label: verbatim(_fact(getattr(self.view.machine, name)))
            for name, label in SURROUNDINGS.items()
        }
        for runtime, known in self.view.run.runtimes.items():
            build = {**build_facts(known), message("build"): verbatim(_fact(known.build))}
            build |= {
                verbatim(name): verbatim(version) for name, version in known.installed.items()
            }
            facts |= {
                message("{runtime}, {what}", runtime=runtime, what=what): fact
                for what, fact in build.items()
            }
        return facts

    @cached_property
    def timed(self) -> list[Row]:
        """The rows of the run that have times or that failed. Rows of services without clients are
        left out.
        """
        return [row for row in self.view.rows if row.bad or request_ns(row.good)]

    def cells(self, groups: str) -> str:
        """Put this run's letter before the names of *groups* of measurements:
        'A/3.14t-4-3.14t-1a2b3c4d'.
        """
        return " ".join(f"{self.letter}/{group}" for group in groups.split())


def _requests(own: Json | None) -> Message:
    """Return the requests to a user's service as text, with a digest of what is sent; "none"
    without a service.

    Titles, expected answers and the folders of body files may differ. The content of a body file is
    not known.
    """
    if not own:
        return NONE
    plan = RequestPlan.from_json(own["requests"])
    sent = [
        (
            one.method,
            str(one.path),
            one.weight,
            one.first,
            str(one.headers),
            str(one.body),
            Path(one.body_file).name,
        )
        for one in plan.requests
    ]
    digest = sha256(json.dumps([plan.think_time_s, sent]).encode()).hexdigest()
    return message(
        "{names} (digest {digest})",
        names=listed(f"{one.method} {one.path}" for one in plan.requests),
        digest=digest[:DIGITS],
    )


def members(views: Sequence[View], titles: Sequence[str]) -> list[Member]:
    """Return the runs to compare, each with a letter: A, B and so on.

    titles: their names on the page
    Raises BadInput if there are fewer than 2 runs or more than 26.
    """
    if not LEAST <= len(views) <= MOST:
        raise BadInput(
            "The number of named runs is {count}, but compare needs {least} to {most} runs. Name "
            "more or fewer runs.",
            count=len(views), least=LEAST, most=MOST,
        )  # fmt: skip
    # one naming, so that equal settings have equal names; of two titles, the first run decides
    titles_of = ChainMap(*(dict(view.titles) for view in views))
    names = ChainMap(*(view.names for view in views))
    settings = Settings([row for view in views for row in view.rows], titles_of, names)
    return [
        # in the order of Member's fields: letter, title, look, view
        Member(*one, settings)
        for one in zip(ascii_uppercase, titles, range(MOST), views, strict=False)
    ]


def obstacles(runs: Iterable[Member]) -> list[Message]:
    """Return the conditions that differ and so forbid a comparison, such as 'the CPU model: EPYC
    (A, B); Xeon (C)'.
    """
    return unlike(by_label({one.letter: one.conditions for one in runs}), SEMICOLON)


def differences(runs: Iterable[Member]) -> list[Message]:
    """Return the permitted differences between the runs, such as another kernel or build, in
    alphabetical order.
    """
    facts = by_label({one.letter: one.facts for one in runs})
    return sorted(unlike(facts, SEMICOLON), key=str)


def runs_section(runs: Sequence[Member]) -> Section:
    """Return a section with a line for each run."""
    cols: list[Col[Member]] = [
        col("Run", lambda one: arm(f"{one.letter}: {one.title}", one.look)),
        col("Time (UTC)", lambda one: one.view.run.started_at[:16].replace("T", " ")),
        col("Plan", "view.name"),
        col("Blocks", lambda one: str(len({cell.block for cell in one.view.run.cells}))),
        col("Measured ok", lambda one: f"{len(one.view.ok_cells)} / {len(one.view.run.cells)}"),
    ]
    name = message("Runs")
    return Section("runs", name, tables=(table(name, cols, [(NOTHING, runs)], kind="facts"),))


def _fact(value: Any) -> str:
    return str(value or ABSENT)


def _value(value: Any) -> Message:
    """Return the value of a run's condition, such as its CPU or its warm-up, as text."""
    if isinstance(value, Warmup):
        seconds = f"{value.seconds:g} s" if value.seconds else 0
        value = f"{100 * value.share:g} %" if value.share else seconds
    if isinstance(value, tuple):
        value = ", ".join(map(str, value))
    return UNKNOWN if value is None else verbatim(str(value)) if value else NONE
