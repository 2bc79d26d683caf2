"""The runs of a page of several: each with a letter and a look, and the names of its cells. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from core.errors import BadInput
from reports.compare.comparable import conditions
from reports.compare.samples import method_of
from reports.page.look import Look, looks
from reports.page.settings import Settings
from reports.page.traces import Traces
from reports.rows.comparisons import OVER_ALL, Comparison
from reports.rows.summary import setting_key
from reports.rows.view import View

LEAST, MOST = 2, len(ascii_uppercase)
Setting = tuple[str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class Member:
    """One of the runs. letter: what the page calls it; look: its sign and colour everywhere on the page.

    conditions: what runs must have in common to be compared, in words, by label
    """

    letter: str
    look: Look
    view: View
    settings: Settings
    traces: Traces
    conditions: Mapping[str, str]

    @property
    def name(self) -> str:
        """'A: 20260801T101500-quick-3f2a'."""
        return f"{self.letter}: {self.view.run.run_id}"

    @property
    def date(self) -> str:
        """The day when it began (UTC)."""
        return self.view.run.started_at[:10]

    @property
    def comparisons(self) -> list[Comparison]:
        """Its comparisons that rest on cells."""
        return [one for one in self.view.comparisons if self.traces.of(one)]

    def cells(self, groups: str) -> str:
        """*groups* of its cells, with its letter before each: 'A/3.14t-4-3.14t-1a2b3c4d'."""
        return " ".join(f"{self.letter}/{one}" for one in groups.split())

    def setting(self, one: Comparison) -> Setting:
        """What a comparison is about. One over all settings is about these: others may have other settings."""
        if one.system != OVER_ALL:
            return setting_key(one.system, one.params)
        return OVER_ALL, str(sorted(setting_key(some["system"], some["params"]) for some in one.settings))


def members(views: Sequence[View], words: Mapping[str, str], titles: Mapping[str, str]) -> list[Member]:
    """A member for each view, in their order. titles: of systems in the page's language. Raises BadInput."""
    if not LEAST <= len(views) <= MOST:
        raise BadInput(f"{len(views)} runs were named for one page; it takes {LEAST} to {MOST}.")
    letters = ascii_uppercase[: len(views)]
    appearance = looks(letters)
    return [
        Member(
            letter=letter,
            look=appearance[letter],
            view=view,
            settings=Settings(view, words, titles),
            traces=Traces(view),
            conditions=conditions(view.run.machine, method_of(view.run.plan.get("method"))),
        )
        for letter, view in zip(letters, views, strict=True)
    ]


def alike(all_members: Sequence[Member]) -> list[list[Member]]:
    """Those that may be compared with each other, together."""
    found: list[list[Member]] = []
    for one in all_members:
        group = next((some for some in found if some[0].conditions == one.conditions), None)
        if group is None:
            found.append([one])
        else:
            group.append(one)
    return found


def letters(some: Sequence[Member]) -> str:
    """'A, B'."""
    return ", ".join(one.letter for one in some)


def fact(value: Any) -> str:
    """A fact of a run as text; a dash where its file does not know it."""
    return "-" if value in (None, "") else str(value)
