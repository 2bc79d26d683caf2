"""What must be said with a comparison of two saved runs. Pure."""

from collections.abc import Sequence

from core.messages import AND, Message, listed, message, plural
from reports.compare.pairs import Pair, pairs, unpaired
from reports.compare.samples import Sample, Saved, cell_name, cell_names
from reports.facts.settings import varying_names

SHOWN_CELLS = 8


def nothing_in_common(a: Saved, b: Saved, names: tuple[str, str]) -> Message:
    """The error for two runs without a pair: why, and what to do."""
    unlike = _unlike(pairs(a, b, loose=True))
    if unlike:
        return message(
            "{a} (A) and {b} (B) have no cell in common: {unlike}. Measure the same cells in both, or compare them "
            "with --anyway.",
            a=names[0], b=names[1], unlike=unlike[0],
        )  # fmt: skip
    shown = varying_names(sample.params for sample in (*a.samples, *b.samples))
    return message(
        "{a} (A) and {b} (B) have no cell in common: A has {in_a}; B has {in_b}. Measure the same cells in both.",
        a=names[0], b=names[1], in_a=_few(a.samples, shown), in_b=_few(b.samples, shown),
    )  # fmt: skip


def _few(samples: Sequence[Sample], names: Sequence[str]) -> Message:
    cells = cell_names(samples[:SHOWN_CELLS], names) or message("none")
    more = len(samples) - SHOWN_CELLS
    return (
        plural("{cells} and {count} more", "{cells} and {count} more", count=more, cells=cells) if more > 0 else cells
    )


def troubles(a: Saved, b: Saved, paired: Sequence[Pair], against: Sequence[Message]) -> list[Message]:
    """What was compared against the rules, the cells that only one run has, and what was not used.

    against: the obstacles that --anyway overruled
    """
    names = varying_names(sample.params for sample in (*a.samples, *b.samples))
    lines = [
        message("Compared only because of --anyway: {obstacle}.", obstacle=obstacle)
        for obstacle in (*against, *_unlike(paired))
    ]
    for run, saved in (("A", a), ("B", b)):
        alone = unpaired(saved, paired)
        if alone:
            cells = cell_names(alone, names)
            lines.append(message("Only in {run}, so not compared: {cells}.", run=run, cells=cells))
        lines += [message("Not used of {run}: {what}.", run=run, what=what) for what in _not_used(saved, names)]
    return lines


def _unlike(paired: Sequence[Pair]) -> list[Message]:
    """Pairs with unlike parameters: 'NUM_CLIENTS is 2 in A and 4 in B for system 1 (3.11, 3.14)'."""
    alike: dict[Message, list[Sample]] = {}
    for pair in paired:
        alike.setdefault(pair.unlike, []).append(pair.a)
    return [
        message("{unlike} for {cells}", unlike=unlike, cells=cell_names(samples, []))
        for unlike, samples in alike.items()
        if unlike
    ]


def _not_used(saved: Saved, names: Sequence[str]) -> list[Message]:
    failed = [
        message("{cell}: {trouble}", cell=cell_name(sample, names, sample.arm), trouble=sample.trouble)
        for sample in saved.samples
        if sample.trouble
    ]
    return [*failed, *saved.left_out]


def readings(a: Saved, b: Saved, paired: Sequence[Pair]) -> list[Message]:
    """Which times were compared, of how many blocks, and which way the ratio goes."""
    blocks = dict.fromkeys([_blocks([pair.a for pair in paired]), _blocks([pair.b for pair in paired])])
    ratio = message("Ratio: time of A / time of B, with its 95 % interval. Above 1 B is faster, below 1 slower.")
    judged = sum(not pair.gate for pair in paired)
    adjusted = [plural("p is adjusted for {count} cell.", "p is adjusted for {count} cells.", count=judged)]
    medians = message("A, B: medians of {blocks}.", blocks=listed(blocks, last=AND))
    return [*dict.fromkeys([a.reading, b.reading]), medians, ratio, *(adjusted if judged > 1 else [])]


def _blocks(samples: Sequence[Sample]) -> Message:
    counts = sorted(len(sample.times) for sample in samples)
    if counts[0] == counts[-1]:
        return plural("{count} block", "{count} blocks", count=counts[0])
    return message("{least} to {most} blocks", least=counts[0], most=counts[-1])
