"""What must be said with a comparison of two saved runs, in words. Pure."""

from collections.abc import Sequence

from reports.compare.pairs import Pair, pairs, unpaired
from reports.compare.samples import PER_REQUEST, Sample, Saved, cell_text, listed, varying

SHOWN_CELLS = 8
UNLIKE_WORK = "The number of requests is not fixed, or not the same in both, so completion times are not compared."
RATIO = "Ratio: time of A / time of B, with its 95 % interval. Above 1 B is faster, below 1 slower."


def nothing_in_common(a: Saved, b: Saved, names: tuple[str, str]) -> str:
    """The error for two runs without a pair: why, and what to do."""
    start = f"{names[0]} (A) and {names[1]} (B) have no cell in common"
    loose = _unlike(pairs(a, b, loose=True))
    if loose:
        return f"{start}: {loose[0]}. Measure the same cells in both, or compare them with --anyway."
    shown = varying([*a.samples, *b.samples])
    return f"{start}: A has {_few(a.samples, shown)}; B has {_few(b.samples, shown)}. Measure the same cells in both."


def _few(samples: Sequence[Sample], names: Sequence[str]) -> str:
    more = f" and {len(samples) - SHOWN_CELLS} more" if len(samples) > SHOWN_CELLS else ""
    return (listed(samples[:SHOWN_CELLS], names) or "none") + more


def troubles(a: Saved, b: Saved, found: Sequence[Pair], against: Sequence[str]) -> list[str]:
    """What was compared against the rules, the cells that only one run has, and what was not used.

    against: the obstacles that --anyway overruled
    """
    names = varying([*a.samples, *b.samples])
    lines = [f"Compared only because of --anyway: {line}." for line in (*against, *_unlike(found))]
    for where, saved in (("A", a), ("B", b)):
        lines += _alone(where, unpaired(saved, found), names) + _not_used(where, saved, names)
    return lines


def _unlike(found: Sequence[Pair]) -> list[str]:
    """Pairs with unlike parameters: 'NUM_CLIENTS is 2 in A and 4 in B for system 1 (3.11, 3.14)'."""
    alike: dict[str, list[Sample]] = {}
    for pair in found:
        alike.setdefault(pair.unlike, []).append(pair.a)
    return [f"{unlike} for {listed(some, [])}" for unlike, some in alike.items() if unlike]


def _alone(where: str, samples: Sequence[Sample], names: Sequence[str]) -> list[str]:
    return [f"Only in {where}, so not compared: {listed(samples, names)}."] if samples else []


def _not_used(where: str, saved: Saved, names: Sequence[str]) -> list[str]:
    bad = [f"{cell_text(one, names, one.arm)}: {one.trouble}" for one in saved.samples if one.trouble]
    return [f"Not used of {where}: {line.rstrip('.')}." for line in (*bad, *saved.left_out)]


def readings(a: Saved, b: Saved, found: Sequence[Pair]) -> list[str]:
    """Which times were compared, of how many blocks, and which way the ratio goes."""
    kinds = {pair.per_request for pair in found}
    times = [a.reading, b.reading] if False in kinds else []
    times += [f"{PER_REQUEST} {UNLIKE_WORK}"] if True in kinds else []
    blocks = [_blocks([pair.a for pair in found]), _blocks([pair.b for pair in found])]
    judged = sum(not pair.gate for pair in found)
    adjusted = f" p is adjusted for {judged} cells." if judged > 1 else ""
    return [*dict.fromkeys(times), f"A, B: medians of {' and '.join(dict.fromkeys(blocks))}.", f"{RATIO}{adjusted}"]


def _blocks(samples: Sequence[Sample]) -> str:
    counts = sorted(len(one.times) for one in samples)
    number = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
    return f"{number} block{'s' * (counts[-1] != 1)}"
