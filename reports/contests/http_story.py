"""What the HTTP clients of one setting say in words: the answer first, then each build of the extension. Pure."""

from collections.abc import Mapping, Sequence
from math import log

from core.runtime import NATIVE
from reports.contests.http_lines import BEAST, HELD, RELEASED, UNDECLARED, Line, bench_ratio, ratio_text

Found = Mapping[tuple[str, str], Line]
NAMES = {
    HELD: "Beast, GIL held through I/O",
    RELEASED: "Beast, GIL released through I/O",
    UNDECLARED: "Beast, GIL held, module not declared for free-threading",
}


def answer(settings: Mapping[str, Sequence[Line]]) -> str:
    """What the experiment asks, across held, released and undeclared; empty where held has no GIL to compare.

    It is told of the first setting that can: the shorter the loops, the less do turns of the GIL hide in them.
    """
    for setting, some in settings.items():
        told = _answer(some)
        if told:
            return f"{told[:-1]} ({setting})." if setting else told
    return ""


def _answer(some: Sequence[Line]) -> str:
    with_gil = _first(some, HELD, gil_enabled=True)
    if with_gil is None:
        return ""
    free = _first(some, HELD, gil_enabled=False)
    parts = [f"Beast (GIL held): serialisation {_told([with_gil, free])}"]
    released = [_first(some, RELEASED, gil_enabled=state) for state in (True, False)]
    if any(released):
        parts.append(f"released: {_told(released)}")
    undeclared = _first(some, UNDECLARED, gil_enabled=False)
    if undeclared is not None:
        again = " again" if free is not None and _is_nearer(undeclared, with_gil, free) else ""
        parts.append(
            "a module that does not declare free-threading support turns the GIL back on and is at "
            f"{undeclared.serialisation.value:.1f}{again}"
        )
    return "; ".join(parts) + "."


def _first(some: Sequence[Line], system: str, *, gil_enabled: bool) -> Line | None:
    return next((one for one in some if one.row.system == system and one.gil_enabled is gil_enabled), None)


def _told(some: Sequence[Line | None]) -> str:
    return ", ".join(f"{one.serialisation.value:.1f} under {one.row.runtime}" for one in some if one)


def _is_nearer(one: Line, this: Line, that: Line) -> bool:
    """Whether its serialisation is nearer to that of *this* than to that of *that*, as a ratio."""
    middle = log(this.serialisation.value) + log(that.serialisation.value)
    above = 2 * log(one.serialisation.value) > middle
    return above == (this.serialisation.value > that.serialisation.value)


def story(setting: str, some: Sequence[Line]) -> list[str]:
    """Each build of the extension under every runtime with its intervals, and released beside the native program."""
    where = f" ({setting})" if setting else ""
    told = [_across([one for one in some if one.row.system == of], f"{NAMES[of]}{where}") for of in NAMES]
    return [text for text in (*told, _beside_native(some, where)) if text]


def _across(some: Sequence[Line], name: str) -> str:
    texts = [
        f"{one.row.runtime}: serialisation {ratio_text(one.serialisation)}, {one.in_flight:.1f} in flight"
        for one in some
    ]
    return f"{name} - {'; '.join(texts)}." if texts else ""


def _beside_native(some: Sequence[Line], where: str) -> str:
    """Bench of the released build over that of the native program, paired by block."""
    native = next((one for one in some if (one.row.system, one.row.runtime) == (BEAST, NATIVE)), None)
    if native is None:
        return ""
    ratios = [(one.row.runtime, bench_ratio(one, native)) for one in some if one.row.system == RELEASED]
    texts = [f"{ratio_text(ratio)} under {runtime}" for runtime, ratio in ratios if ratio]
    return f"Bench of Beast released over that of native Beast{where}: {', '.join(texts)}." if texts else ""
