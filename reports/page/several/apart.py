"""What differs between several runs: what forbids to compare their times, and what may differ. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.compare.comparable import SURROUNDINGS
from reports.page.several.members import Member, alike, fact, letters
from reports.terminal.inventory import flags_text
from reports.words.translation import said

COMMIT = "The commit of gilscope"


def told(all_members: Sequence[Member], words: Mapping[str, str]) -> str:
    """Which of the runs may be compared with which, in one or two sentences."""
    groups = alike(all_members)
    if len(groups) == 1:
        return words["several_alike"]
    together = [letters(some) for some in groups if len(some) > 1]
    if not together:
        return words["several_none_alike"]
    return words["several_some_alike"].format(groups="; ".join(together))


def obstacles(all_members: Sequence[Member], lang: str) -> list[str]:
    """What forbids to compare times: 'the CPU: EPYC (A, B); Xeon (C)'."""
    labels = dict.fromkeys(label for one in all_members for label in one.conditions)
    return _unlike({label: {one: one.conditions.get(label, "-") for one in all_members} for label in labels}, lang)


def remarks(all_members: Sequence[Member], lang: str) -> list[str]:
    """What differs and may: surroundings, our own commit, the runtimes of one name."""
    facts: dict[str, dict[Member, str]] = {
        label: {one: fact(one.view.run.machine.get(name)) for one in all_members}
        for name, label in {**SURROUNDINGS, "commit": COMMIT}.items()
    }
    for name in dict.fromkeys(name for one in all_members for name in one.view.run.runtimes):
        told_of = {
            one: _interpreter(one.view.run.runtimes[name]) for one in all_members if name in one.view.run.runtimes
        }
        known = [set(some) for some in told_of.values()]
        for what in [what for what in next(iter(told_of.values())) if all(what in some for some in known)]:
            facts[f"{name}, {said(what, lang)}"] = {one: some[what] for one, some in told_of.items()}
    return _unlike(facts, lang)


def _unlike(facts: Mapping[str, Mapping[Member, str]], lang: str) -> list[str]:
    """A line for each fact that is not the same in all runs that have it."""
    lines = []
    for label, values in facts.items():
        who: dict[str, list[Member]] = {}
        for one, value in values.items():
            who.setdefault(value, []).append(one)
        if len(who) > 1:
            shown = "; ".join(f"{said(value, lang)} ({letters(some)})" for value, some in who.items())
            lines.append(f"{_capital(label) if lang == 'en' else said(label, lang)}: {shown}")
    return lines


def _capital(label: str) -> str:
    """A label at the beginning of a line."""
    return f"{label[0].upper()}{label[1:]}"


def _interpreter(facts: Mapping[str, Any]) -> dict[str, str]:
    """What tells builds of one name apart, and the packages in use, in words."""
    named = {name: fact(facts.get(name)) for name in ("version", "build", "compiler")}
    packages = {name: version for one in facts.get("packages", {}).values() for name, version in one.items()}
    return {**named, "flags": flags_text(facts.get("flags", {})), **packages}
