"""What the HTTP clients of one setting say: the answer first, then each build of the extension. Pure."""

from collections.abc import Mapping, Sequence
from math import log

from core.messages import NOTHING, SEMICOLON, Message, listed, message
from core.runtime import NATIVE
from reports.document.model import traced
from reports.document.values import tenths
from reports.facts.http_workers import BEAST, HELD, RELEASED, UNDECLARED, ClientRow, bench_ratio, ratio_text
from reports.facts.settings import about
from reports.facts.traces import together

NAMES = {
    HELD: message("Beast, GIL held through I/O"),
    RELEASED: message("Beast, GIL released through I/O"),
    UNDECLARED: message("Beast, GIL held, module not declared for free-threading"),
}
Settings = Mapping[str, Sequence[ClientRow]]


def answer(settings: Settings) -> Message:
    """What the experiment asks, across held, released and undeclared; nothing where held has no GIL to compare.

    It is told of the first setting that can: the shorter the loops, the less do turns of the GIL hide in them.
    """
    for setting, group in settings.items():
        parts = _answer_parts(group)
        if parts:
            every = listed(parts, SEMICOLON)
            where = message("{parts} ({setting})", parts=every, setting=setting) if setting else every
            return message("{parts}.", parts=where)
    return NOTHING


def _answer_parts(group: Sequence[ClientRow]) -> list[Message]:
    with_gil = _first(group, HELD, gil_enabled=True)
    if with_gil is None:
        return []
    free = _first(group, HELD, gil_enabled=False)
    parts = [message("Beast (GIL held): serialisation {values}", values=_values([with_gil, free]))]
    released = [_first(group, RELEASED, gil_enabled=state) for state in (True, False)]
    if any(released):
        parts.append(message("released: {values}", values=_values(released)))
    undeclared = _first(group, UNDECLARED, gil_enabled=False)
    if undeclared is not None:
        value = _value(undeclared)
        parts.append(
            message(
                "a module that does not declare free-threading support turns the GIL back on and is at {value} again",
                value=value,
            )
            if free is not None and _is_nearer(undeclared, with_gil, free)
            else message(
                "a module that does not declare free-threading support turns the GIL back on and is at {value}",
                value=value,
            )
        )
    return parts


def _first(group: Sequence[ClientRow], system: str, *, gil_enabled: bool) -> ClientRow | None:
    return next((client for client in group if client.row.system == system and client.gil_enabled is gil_enabled), None)


def _values(group: Sequence[ClientRow | None]) -> Message:
    known = [client for client in group if client]
    return listed(message("{value} under {runtime}", value=_value(client), runtime=client.runtime) for client in known)


def _value(client: ClientRow) -> Message:
    return traced(tenths(client.serialisation.value), client.groups)


def _is_nearer(client: ClientRow, this: ClientRow, that: ClientRow) -> bool:
    """Whether its serialisation is nearer to that of *this* than to that of *that*, as a ratio."""
    middle = log(this.serialisation.value) + log(that.serialisation.value)
    is_above = 2 * log(client.serialisation.value) > middle
    return is_above == (this.serialisation.value > that.serialisation.value)


def story(setting: str, group: Sequence[ClientRow]) -> list[Message]:
    """Each build of the extension under every runtime with its intervals, and released beside the native program."""
    told = []
    for system, name in NAMES.items():
        clauses = [_clause(client) for client in group if client.row.system == system]
        sentence = message("{name} - {clauses}.", name=name, clauses=listed(clauses, SEMICOLON))
        told += [about(sentence, setting)] if clauses else []
    return told + [about(sentence, setting) for sentence in _beside_native(group)]


def _clause(client: ClientRow) -> Message:
    return message(
        "{runtime}: serialisation {ratio}, {in_flight:.1f} in flight",
        runtime=client.runtime,
        ratio=traced(ratio_text(client.serialisation), client.groups),
        in_flight=client.in_flight,
    )


def _beside_native(group: Sequence[ClientRow]) -> list[Message]:
    """Bench of the released build over that of the native program, paired by block."""
    native = next((client for client in group if (client.row.system, client.runtime) == (BEAST, NATIVE)), None)
    if native is None:
        return []
    ratios = [(client, bench_ratio(client, native)) for client in group if client.row.system == RELEASED]
    values = [
        message(
            "{value} under {runtime}",
            value=traced(ratio_text(ratio), together([client.groups, native.groups])),
            runtime=client.runtime,
        )
        for client, ratio in ratios
        if ratio
    ]
    return (
        [message("Bench of Beast released over that of native Beast: {values}.", values=listed(values))]
        if values
        else []
    )
