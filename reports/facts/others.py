"""What others used of the cores while clients were timed: how much, in which blocks, and which processes. Pure.

Others are processes that do not belong to the run and, on a virtual machine, what its host gave to others (steal).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.messages import NOTHING, Message, listed, message, verbatim
from core.result import CellResult

MOST_SHARE = 0.05  # of the cores, in a block; above it the block is marked
MOST_MARKED = 1 / 3  # of the blocks; above it the verdict says so
MOST_NAMED = 3
STEAL = "steal"  # as top and /proc/stat call what the host of a virtual machine took


@dataclass(frozen=True, kw_only=True)
class Others:
    """Shares of the cores' time, 0..1, in timed windows alone. Of several hosts that where others used most.

    by_block: of each block. busiest: by the names of processes, the three that used most; neighbours: of those that
    belong to the service, which are in none of the other figures
    """

    share: float
    by_block: Mapping[int, float]
    busiest: Mapping[str, float]
    neighbours: Mapping[str, float]

    @property
    def marked(self) -> list[int]:
        """The blocks in which other processes used more than MOST_SHARE."""
        return [block for block, share in self.by_block.items() if share > MOST_SHARE]

    @property
    def is_busy(self) -> bool:
        """Whether so many blocks are marked that a verdict must say so."""
        return len(self.marked) > len(self.by_block) * MOST_MARKED

    @property
    def used(self) -> Message:
        """'Other processes used 46 % of the cores while clients were timed: python3 41 %, sshd 2 %'."""
        said = message(
            "other processes used {share} of the cores while clients were timed{names}",
            share=_percent(self.share),
            names=_named(self.busiest),
        )
        if not self.neighbours:
            return said
        return message("{said}; neighbours used{names}", said=said, names=_named(self.neighbours))

    @property
    def marks(self) -> Message:
        """What they used, and in how many blocks that is more than MOST_SHARE."""
        return message(
            "{used}; above {most} in {count} of {all} blocks",
            used=self.used,
            most=f"{MOST_SHARE:.0%}",
            count=len(self.marked),
            all=len(self.by_block),
        )

    @property
    def blocks(self) -> Message:
        """What they used, and the share in each block, marked where it is above MOST_SHARE."""
        shares = (f"{_percent(share)}{' !' if block in self.marked else ''}" for block, share in self.by_block.items())
        return message(
            "{used}; by block: {shares} (! marks more than {most})",
            used=self.used,
            shares=", ".join(shares),
            most=f"{MOST_SHARE:.0%}",
        )


def others(cells: Iterable[CellResult]) -> Others | None:
    """Return what *cells* say of other processes; None if no cell does."""
    known = [(cell.block, host, *_with_steal(cell, host)) for cell in cells for host in cell.others]
    if not known:
        return None
    weights: dict[str, float] = {}
    used: dict[str, dict[tuple[str, str], float]] = {"busiest": {}, "neighbours": {}}
    by_block: dict[tuple[int, str], tuple[float, float]] = {}
    for block, host, of_one, share in known:
        weight = of_one["cores"] * of_one["window_ns"]
        weights[host] = weights.get(host, 0) + weight
        so_far, whole = by_block.get((block, host), (0.0, 0.0))
        by_block[block, host] = so_far + share * weight, whole + weight
        for kind, names in used.items():
            for name, part in of_one[kind].items():
                names[host, name] = names.get((host, name), 0) + part * weight
    total = {host: sum(part for (_, there), (part, _) in by_block.items() if there == host) for host in weights}
    return Others(
        share=max(total[host] / weights[host] for host in weights),
        by_block={
            block: max(part / whole for (there, _), (part, whole) in by_block.items() if there == block)
            for block in sorted({block for block, _ in by_block})
        },
        busiest=dict([*_shares(used["busiest"], weights).items()][:MOST_NAMED]),
        neighbours=_shares(used["neighbours"], weights),
    )


def _with_steal(cell: CellResult, host: str) -> tuple[Mapping[str, Any], float]:
    """Return what *cell* says of others, and their share with what the machine's own host took, which is named, too."""
    of_one = cell.others[host]
    steal = 0.0 if host else (cell.machine or {}).get("steal") or 0.0
    busiest = {**of_one["busiest"], **({STEAL: steal} if steal else {})}
    return {**of_one, "busiest": busiest}, of_one["share"] + steal


def _shares(used: Mapping[tuple[str, str], float], weights: Mapping[str, float]) -> dict[str, float]:
    """By name, with its host before it; the greatest first."""
    shares = {f"{host}: {name}" if host else name: part / weights[host] for (host, name), part in used.items()}
    return dict(sorted(shares.items(), key=lambda one: -one[1]))


def _named(shares: Mapping[str, float]) -> Message:
    names = [verbatim(f"{name} {_percent(share)}") for name, share in shares.items()]
    return message(" ({names})", names=listed(names)) if names else NOTHING


def _percent(share: float) -> str:
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
