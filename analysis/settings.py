"""Names of settings: the system, and the parameters that distinguish settings of the
same system.

A setting is a system with one combination of parameter values, such as NUM_CLIENTS 8. Systems of
gilscope have a number as their name, and a user's service has its own name. All sections of
reports/ and the progress in the terminal name settings by these functions. Titles are message ids,
which are translated when they are printed.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Protocol

from analysis.cell_index import Row, grouped
from core.cell import PARAMETERS, Value
from core.messages import NOTHING, Json, Message, listed, message, verbatim
from core.user_service import UserService
from record.comparison import Setting

SHAPE = (
    "NUM_API_SERVICES",
    "NUM_WORKERS_PER_API_SERVICE",
)  # the topology of a user's service: processes and threads


def value_text(value: Value) -> str:
    """Return a parameter's value as text in the spelling of plans, such as true, none or 10."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else str(value)


class HasParams(Protocol):
    """A setting, a cell or another object with parameters."""

    @property
    def params(self) -> Json:
        """The parameters and their values."""


def parameter_names(settings: Iterable[HasParams]) -> list[str]:
    """Return the names of all parameters of *settings*, in the order of their declaration."""
    used = dict.fromkeys(name for one in settings for name in one.params)
    return [name for name in PARAMETERS if name in used] + [
        name for name in used if name not in PARAMETERS
    ]


def varying(settings: Iterable[HasParams]) -> list[str]:
    """Return the names of the parameters that have several values in *settings*, in the order of
    their declaration.
    """
    every = list(settings)

    def values(name: str) -> set[str]:
        return {value_text(one.params[name]) for one in every if name in one.params}

    return [name for name in parameter_names(every) if len(values(name)) > 1]


def parameter_values(params: Mapping[str, Value], names: Iterable[str]) -> str:
    """Return the parameters that *names* lists as text, such as 'SELECT_MODE all, NUM_MULTI_SOCKET
    10'.
    """
    return ", ".join(f"{name} {value_text(params[name])}" for name in names if name in params)


def labels(every: Sequence[Setting]) -> list[Message]:
    """Return a label for each setting that distinguishes it from the others, such as 'system 2,
    PAYLOAD_BYTES 0'.
    """
    telling = varying(every)
    are_several = len({each.system for each in every}) > 1
    found = []
    for each in every:
        system = message("system {system}", system=each.system) if are_several else NOTHING
        found.append(listed(filter(None, [system, parameter_values(each.params, telling)])))
    return found


def about(sentence: Message, *subjects: Message | str) -> Message:
    """Return *sentence* preceded by its non-empty *subjects*, such as 'system 2, 3.14t: ...'."""
    named = listed(filter(None, subjects))
    return message("{about}: {sentence}", about=named, sentence=sentence) if named else sentence


def service_names(service: UserService | None) -> dict[str, str]:
    """Return the name that reports show for a user's service, by its name in the cells; empty for
    other plans.
    """
    return {service.name: service.label} if service and service.command else {}


def system_name(system: str, names: Mapping[str, str]) -> Message:
    """Return a system as text: its name in *names* or else its own name; 'System 4 (TITLE)' for a
    system of gilscope.

    names: may also have titles of gilscope's systems, by number
    """
    if not system.isdigit():
        return verbatim(names.get(system, system))
    if system in names:
        return message(
            "System {number} ({title})", number=system, title=Message(msgid=names[system])
        )
    return message("System {number}", number=system)


def titled(system: str, titles: Mapping[str, str]) -> Message:
    """Return the title of a system, or its name if *titles* lacks the system."""
    return Message(msgid=titles[system]) if system in titles else verbatim(system)


def place_in_plan(params: Mapping[str, Value], varying: Iterable[str], *, is_own: bool) -> str:
    """Return what distinguishes a setting: the values of *varying* parameters, and a user's
    topology as '2x1'.
    """
    told = [*varying]
    shape = ""
    if is_own and {*SHAPE} & {*told} and {*SHAPE} <= {*params}:
        shape = "x".join(value_text(params[name]) for name in SHAPE)
    others = parameter_values(params, [name for name in told if not shape or name not in SHAPE])
    return ", ".join(filter(None, [shape, others]))


def setting_of(profile: Json) -> Setting:
    """Return the setting at which a profile was made."""
    return Setting(system=profile["system"], params=profile.get("params", {}))


class Settings:
    """The full and short names of the settings of a run.

    titles: the titles of the systems, by number or name
    names:  as service_names() returns them
    """

    def __init__(
        self, rows: Sequence[Row], titles: Mapping[str, str], names: Mapping[str, str]
    ) -> None:
        self._titles = titles
        self._names = names
        self._in_all = varying(rows)
        self._varying: dict[str, list[str]] = {}
        for system, mine in grouped(rows, attrgetter("system")).items():
            # DISPATCH always stands in the name: it changes the design
            telling = {*varying(mine), "DISPATCH"}
            self._varying[system] = [name for name in self._in_all if name in telling]
        self._plan_titles = {row.key: row.title for row in rows}

    def number(self, system: str) -> Message:
        """Return a system as text: 'System 4', or the system's name if it has no number."""
        return system_name(system, self._names)

    def head(self, system: str) -> Message:
        """Return the name and title of a system, such as 'System 4: Multi-socket pool'."""
        is_named = self._names.get(system, system) != system
        title = NOTHING if is_named else Message(msgid=self._titles.get(system, ""))
        return (
            message("{name}: {title}", name=self.number(system), title=title)
            if title
            else self.number(system)
        )

    def name(self, of: Setting) -> Message:
        """Return the full name of a setting: 'System 4: Multi-socket pool - SELECT_MODE all,
        NUM_MULTI_SOCKET 10'.
        """
        if of.is_over_all:
            return message("All settings (geometric mean)")
        head, values = self.head(of.system), self.values(of)
        return message("{name} - {values}", name=head, values=values) if values else head

    def short(self, of: Setting) -> Message:
        """Return the short name of a setting. The system's title is included only if no parameter
        is.
        """
        if of.is_over_all:
            return message("all settings")
        return self.where(of) if self.values(of) else self.head(of.system)

    def where(self, of: Setting) -> Message:
        """Return a setting as text: 'System 4, SELECT_MODE all'."""
        return listed(filter(None, [self.number(of.system), self.values(of)]))

    def profiled(self, profile: Json) -> Message:
        """Return a profile's runtime, setting and sentence, such as '3.14t, System 4: the hottest
        line is ...'.
        """
        return message(
            "{runtime}, {setting}: {sentence}.",
            runtime=profile["runtime"],
            setting=self.where(setting_of(profile)),
            sentence=Message.from_json(profile["sentence"]),
        )

    def values(self, of: Setting) -> Message | str:
        """Return what distinguishes a setting from others of its system: its title in the plan, or
        parameters.
        """
        if title := self._plan_titles.get(of.key):
            return Message(msgid=title)
        varied = self._varying.get(of.system, self._in_all)
        return place_in_plan(of.params, varied, is_own=of.system in self._names)
