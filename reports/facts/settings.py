"""How a setting is named, everywhere: its system, and what tells it from the others of that system. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.cell import Value
from core.messages import NOTHING, Message, listed, message, verbatim
from reports.facts.arrangement import value_text, varying
from reports.facts.pairs import OVER_ALL
from reports.facts.summary import Row, setting_key


def parameter_values(params: Mapping[str, Value], names: Iterable[str]) -> str:
    """'SELECT_MODE all, NUM_MULTI_SOCKET 10', of those *names* that *params* have."""
    return ", ".join(f"{name} {value_text(params[name])}" for name in names if name in params)


class Settings:
    """The names of the settings of a run's rows. titles: of the systems, by number or name."""

    def __init__(self, rows: Sequence[Row], titles: Mapping[str, str]) -> None:
        self._titles = titles
        systems = dict.fromkeys(row.system for row in rows)
        self._in_all = varying(rows)
        apart = {name: varying([row for row in rows if row.system == name]) for name in systems}
        self._varying = {  # DISPATCH is a design: where rows differ in it, each that has one names its own
            name: [each for each in self._in_all if each in names or each == "DISPATCH"]
            for name, names in apart.items()
        }
        self._plan_titles = {setting_key(row.system, row.params): row.title for row in rows if row.title}

    def number(self, system: str) -> Message:
        """'System 4'; a system without a number goes by its name."""
        return message("System {number}", number=system) if system.isdigit() else verbatim(system)

    def head(self, system: str) -> Message:
        """'System 4: Multi-socket pool'."""
        title = self.title(system)
        return message("{name}: {title}", name=self.number(system), title=title) if title else self.number(system)

    def title(self, system: str) -> Message:
        """What a system is, in a few words; nothing where the run does not say."""
        return Message(msgid=self._titles[system]) if system in self._titles else NOTHING

    def name(self, system: str, params: Mapping[str, Any]) -> Message:
        """'System 4: Multi-socket pool - SELECT_MODE all, NUM_MULTI_SOCKET 10'."""
        if system == OVER_ALL:
            return message("All settings (geometric mean)")
        values = self.values(system, params)
        return message("{name} - {values}", name=self.head(system), values=values) if values else self.head(system)

    def short(self, system: str, params: Mapping[str, Any]) -> Message:
        """The same in a few words: where parameters tell it, without the system's title."""
        if system == OVER_ALL:
            return message("all settings")
        values = self.values(system, params)
        return listed([self.number(system), values]) if values else self.head(system)

    def where(self, system: str, params: Mapping[str, Any], *more: str) -> Message:
        """'System 4, SELECT_MODE all, 3.14t': its number, what tells the setting, and what else does."""
        return listed(filter(None, [self.number(system), self.values(system, params), *more]))

    def profiled(self, profile: Mapping[str, Any]) -> Message:
        """What a profile says, of which runtime and setting: '3.14t, System 4: the hottest function is ...'."""
        return message(
            "{runtime}, {setting}: {sentence}.",
            runtime=profile["runtime"],
            setting=self.where(profile["system"], profile.get("params", {})),
            sentence=Message.from_json(profile["sentence"]),
        )

    def values(self, system: str, params: Mapping[str, Any]) -> str:
        """What tells a setting from the others of its system: the plan's title, or parameters with values."""
        title = self._plan_titles.get(setting_key(system, params), "")
        return title or parameter_values(params, self._varying.get(system, self._in_all))
