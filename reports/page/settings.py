"""How the page names a setting: its system, and what tells it from the others of that system. Pure."""

from collections.abc import Mapping
from typing import Any

from reports.page.look import Look, looks
from reports.rows.arrangement import groups, value_text, varying
from reports.rows.comparisons import OVER_ALL
from reports.rows.series import arms
from reports.rows.summary import Row, setting_key
from reports.rows.view import View


class Settings:
    """The settings of a view, their names, and the looks of its arms."""

    def __init__(self, view: View, words: Mapping[str, str], titles: Mapping[str, str]) -> None:
        """titles: of systems in the page's language, where it has its own."""
        self.groups: list[list[Row]] = groups(view.rows)
        self.looks: dict[str, Look] = looks(arms(view.run))
        self._words = words
        self._titles = {**view.titles, **titles}
        systems = dict.fromkeys(row.system for row in view.rows)
        self._varying = {name: varying([row for row in view.rows if row.system == name]) for name in systems}
        self._in_all = varying(view.rows)
        self._plan_titles = {setting_key(row.system, row.params): row.title for row in view.rows if row.title}

    def head(self, system: str) -> str:
        """'System 4: Multi-socket pool'; a system without a number goes by its name."""
        title = self._titles.get(system, "")
        return f"{self._number(system)}: {title}" if title else self._number(system)

    def name(self, system: str, params: Mapping[str, Any]) -> str:
        """'System 4: Multi-socket pool - SELECT_MODE all, NUM_MULTI_SOCKET 10'."""
        if system == OVER_ALL:
            return self._words["all_settings"]
        return " - ".join(filter(None, [self.head(system), self.values(system, params)]))

    def short(self, system: str, params: Mapping[str, Any]) -> str:
        """The same in a few words: where parameters tell it, without the system's title."""
        some = self.values(system, params)
        return f"{self._number(system)}, {some}" if some else self.head(system)

    def _number(self, system: str) -> str:
        return self._words["system_number"].format(system=system) if system.isdigit() else system

    def values(self, system: str, params: Mapping[str, Any]) -> str:
        """What tells a setting from the others of its system: the plan's title, or parameters with values."""
        title = self._plan_titles.get(setting_key(system, params), "")
        names = [name for name in self._varying.get(system, self._in_all) if name in params]
        return title or ", ".join(f"{name} {value_text(params[name])}" for name in names)
