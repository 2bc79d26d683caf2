"""Describe the builds of interpreters and the versions of programs that a run recorded, and how
builds differ.

The sources are core/runtime.py: RuntimeFacts and Flags. Facts are values by label; both are
messages to show. commands/runtimes.py and the machine section of a report show them, and
analysis/host_facts.py finds the differences between hosts.
"""

from collections.abc import Mapping
from typing import Any

from analysis.cell_index import grouped
from core.messages import COMMA, NOTHING, Message, listed, message, verbatim
from core.runtime import Flags, RuntimeFacts

YES, NO, UNKNOWN = message("yes"), message("no"), message("unknown")
# labels of the fields of RuntimeFacts
NAMED = {"version": message("version"), "compiler": message("compiler")}
# labels of the fields of Flags, in the order in which they are shown
FLAGS = {
    "pgo": message("PGO"),
    "lto": message("LTO"),
    "shared": message("shared library"),
    "debug": message("debug"),
    "tail_call": message("tail-call interpreter"),
    "jit": message("JIT"),
}
# words for flags that are off; a flag that is not here is mentioned only if it is on
WITHOUT = {
    "pgo": message("no PGO"),
    "lto": message("no LTO"),
    "shared": message("static libpython"),
}

Facts = Mapping[Message, Message]  # values by label


def build_flags(flags: Flags) -> Message:
    """Return the build flags as text: 'PGO, no LTO, static libpython'; empty if unknown, as for
    native programs.
    """
    if any(getattr(flags, name) is None for name in WITHOUT):
        return NOTHING
    on = {name: label for name, label in FLAGS.items() if getattr(flags, name)}
    return listed((WITHOUT | on)[name] for name in FLAGS if name in WITHOUT or name in on)


def build_facts(facts: RuntimeFacts) -> dict[Message, Message]:
    """Return the version, the compiler and the flags of an interpreter as words, by label."""
    words = {True: YES, False: NO, None: UNKNOWN}
    flag_words = {label: words[getattr(facts.flags, name)] for name, label in FLAGS.items()}
    return known(vars(facts), NAMED) | flag_words


def known(
    facts: Mapping[str, Any], labels: Mapping[str, Message], absent: Message = UNKNOWN
) -> dict[Message, Message]:
    """Return the value of each fact by its label; *absent* if it is missing, 0 or empty.

    labels: the label of each fact's key
    """

    def value(key: str) -> Message:
        return verbatim(str(facts[key])) if facts.get(key) else absent

    return {label: value(key) for key, label in labels.items()}


def by_label(facts: Mapping[str, Facts]) -> dict[Message, dict[str, Message]]:
    """Return {label: {name: value}} from {name: {label: value}}."""
    found: dict[Message, dict[str, Message]] = {}
    for name, known_facts in facts.items():
        for label, value in known_facts.items():
            found.setdefault(label, {})[name] = value
    return found


def unlike(facts: Mapping[Message, Mapping[str, Message]], joint: Message = COMMA) -> list[Message]:
    """Return a line for each fact that has different values: 'PGO: yes (3.11), no (3.14t)'.

    facts: values by name
    """
    lines = []
    for label, values in facts.items():
        names = grouped(values, values.__getitem__)
        each = [
            message("{value} ({names})", value=value, names=", ".join(who))
            for value, who in names.items()
        ]
        if len(each) > 1:
            lines.append(message("{label}: {values}", label=label, values=listed(each, joint)))
    return lines
