"""Which cells of two saved runs belong together. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.messages import SEMICOLON, Message, listed, message
from reports.compare.samples import Sample, Saved
from reports.facts.settings import value_text


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A cell in run A and in run B."""

    a: Sample
    b: Sample

    @property
    def times_fs(self) -> tuple[list[int], list[int]]:
        """Of A and of B, one time per block."""
        return [one.request_fs for one in self.a.times], [one.request_fs for one in self.b.times]

    @property
    def gate(self) -> Message:
        """Why no verdict is possible, or nothing."""
        gates = {"A": self.a.gate, "B": self.b.gate}
        return listed([in_run(run, gate) for run, gate in gates.items() if gate], SEMICOLON)

    @property
    def unlike(self) -> Message:
        """Parameters that differ, or nothing."""
        names = dict.fromkeys([*self.a.params, *self.b.params])
        values = {name: (_value(self.a, name), _value(self.b, name)) for name in names}
        return listed(
            message("{name} is {a} in A and {b} in B", name=name, a=a, b=b) for name, (a, b) in values.items() if a != b
        )


def in_run(run: str, what: Message) -> Message:
    """'in B it failed'. run: A or B"""
    return message("in {run} {what}", run=run, what=what)


def _value(sample: Sample, name: str) -> str:
    return value_text(sample.params[name]) if name in sample.params else "unset"


def pairs(a: Saved, b: Saved, *, loose: bool) -> list[Pair]:
    """Cells of the same system, parameters and arm, in the order of A.

    loose: also those whose parameters differ, where either run has just one more of that system and arm
    """
    in_b = {sample.key: sample for sample in b.samples}
    found = [Pair(a=one, b=in_b[one.key]) for one in a.samples if one.key in in_b]
    if loose:
        rest_a, rest_b = (_single(unpaired(one, found)) for one in (a, b))
        found += [Pair(a=one, b=rest_b[kind]) for kind, one in rest_a.items() if kind in rest_b]
    place = {sample.key: number for number, sample in enumerate(a.samples)}
    return sorted(found, key=lambda pair: place[pair.a.key])


def unpaired(saved: Saved, found: Sequence[Pair]) -> list[Sample]:
    """The samples of *saved* that are in no pair."""
    paired = {id(sample) for pair in found for sample in (pair.a, pair.b)}
    return [sample for sample in saved.samples if id(sample) not in paired]


def _single(samples: Sequence[Sample]) -> dict[tuple[str, str], Sample]:
    """The samples that are the only one of their system and arm."""
    count = Counter((one.system, one.arm) for one in samples)
    return {(one.system, one.arm): one for one in samples if count[one.system, one.arm] == 1}
