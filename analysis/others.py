"""CPU use of other processes while clients were timed: how much, in which blocks, and by which
processes.

Other processes are those that do not belong to the run. On a virtual machine, steal time counts as
one of them.

The figures come from CellResult.others, a dict by host of record/result_parts.py: OtherProcesses.
analysis/pair_verdicts.py withdraws verdicts that disturbed blocks may have caused, and reports/
shows the sentences. Programs "beside" the services, such as their database, belong to the run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from statistics import fmean
from typing import Any, Literal

from analysis.formats import SMALL, microseconds, percent, whole_percent
from core.messages import NOTHING, SENTENCES, Message, chained, listed, message, verbatim
from record.result_parts import OtherProcesses as Seen
from record.saved_run import CellResult

MOST_SHARE = 0.05  # of the cores in a block; a block with a larger share is marked
MOST_MARKED = 1 / 3  # of the blocks; if more are marked, the verdict says so
MOST_BUSY = 0.25  # of the cores; a verdict must hold without the blocks in which others used more
MOST_NAMED = 3  # busiest processes in Others.busiest
LEAST_NAMED = 0.0005  # of the cores; a smaller share would be shown as 0.0%
# the name in top and /proc/stat for CPU time that the host of a virtual machine took
STEAL = "steal"


@dataclass(frozen=True, kw_only=True)
class Others:
    """The shares of CPU time (0..1) that other processes used while clients were timed.

    share:      the share over all blocks; with several hosts, that of the busiest host
    by_block:   the share in each block
    busiest:    the shares of the three busiest processes, by name
    neighbours: the shares of processes named by --neighbour, which belong to the service; *share*
        leaves them out
    is_search:  whether the measurements are probes of a search for the capacity, whose blocks are
        rounds of probes
    """

    share: float
    by_block: Mapping[int, float]
    busiest: Mapping[str, float]
    neighbours: Mapping[str, float]
    is_search: bool

    @property
    def marked(self) -> list[int]:
        """The blocks in which other processes used more than MOST_SHARE of the cores."""
        return [block for block, share in self.by_block.items() if share > MOST_SHARE]

    @property
    def is_busy(self) -> bool:
        """Whether other processes were busy in so many blocks (more than a third) that a verdict
        must mention them.
        """
        return len(self.marked) > len(self.by_block) * MOST_MARKED

    @property
    def used(self) -> Message:
        """A clause: 'other processes used 46 % of the cores while clients were timed (python3 41 %,
        sshd 2 %)'.
        """
        named = {name: share for name, share in self.busiest.items() if share >= LEAST_NAMED}
        said = message(
            "other processes used {share} of the cores while clients were timed{names}",
            share=_percent(self.share),
            names=_named(named),
        )
        if not self.neighbours:
            return said
        return message(
            "{said}; processes named with --neighbour are counted separately{names}",
            said=said,
            names=_named(self.neighbours),
        )

    @property
    def marks(self) -> Message:
        """A clause: the share of cores that other processes used, and in how many blocks it was
        above MOST_SHARE.
        """
        known: dict[str, Any] = {"used": self.used, "most": whole_percent(MOST_SHARE)}
        known |= {"count": len(self.marked), "all": len(self.by_block)}
        if self.is_search:
            return message(
                "{used}; other processes used more than {most} of the cores in {count} of {all} "
                "rounds of probes",
                **known,
            )
        return message(
            "{used}; other processes used more than {most} of the cores in {count} of {all} blocks",
            **known,
        )


def others(cells: Iterable[CellResult]) -> Others | None:
    """Return the CPU use of other processes in *cells*; None if no cell reports it."""
    by_host: dict[str, list[Seen]] = {}
    by_block: dict[int, dict[str, list[Seen]]] = {}
    is_search = False
    for cell in cells:
        is_search = is_search or bool(cell.probe)
        for host, seen in cell.others.items():
            # the key "" is this machine; the steal time of other hosts is not known
            steal = 0.0 if host else (cell.machine or {}).get("steal") or 0.0
            busiest = {**seen["busiest"], STEAL: steal} if steal else seen["busiest"]
            with_steal: Seen = {**seen, "share": seen["share"] + steal, "busiest": busiest}
            by_host.setdefault(host, []).append(with_steal)
            by_block.setdefault(cell.block, {}).setdefault(host, []).append(with_steal)
    if not by_host:
        return None
    return Others(
        share=_most(by_host),
        by_block={block: _most(by_block[block]) for block in sorted(by_block)},
        busiest=dict([*_by_name(by_host, "busiest").items()][:MOST_NAMED]),
        neighbours=_by_name(by_host, "neighbours"),
        is_search=is_search,
    )


def load(cell: CellResult) -> float:
    """Return the share of the cores (0..1) that other processes used in a measurement; 0 if
    unknown.
    """
    seen = others([cell])
    return seen.share if seen else 0.0


def on_busy(word: Message, share: float | None) -> Message:
    """Return a verdict that says so if other processes used more than MOST_BUSY of the cores.

    share: their share of the cores; None if unknown
    """
    return message("{word} on a busy machine", word=word) if (share or 0.0) > MOST_BUSY else word


def beside(cells: Iterable[CellResult], cores: int) -> Message:
    """Return a sentence on the CPU use of each program, such as PostgreSQL, that ran beside the
    services.

    cores: the number of the machine's cores; 0 if it is not known, and then the sentence is empty
    """
    good = [cell for cell in cells if cell.beside and cell.wall_ns and cell.answered and cores]
    names = dict.fromkeys(name for cell in good for name in cell.beside)
    return chained((_beside_words(name, good, cores) for name in names), SENTENCES)


def _beside_words(name: str, good: Sequence[CellResult], cores: int) -> Message:
    known = [cell for cell in good if name in cell.beside]
    return message(
        "{name} used {share} of the machine's CPU time, which is {time_us} us per request.",
        name=name,
        share=_percent(fmean(cell.beside[name] / cell.wall_ns / cores for cell in known)),
        time_us=microseconds(fmean(cell.beside[name] / cell.answered for cell in known)),
    )


def _most(by_host: Mapping[str, Sequence[Seen]]) -> float:
    return max(_mean(seen, map(itemgetter("share"), seen)) for seen in by_host.values())


def _by_name(
    by_host: Mapping[str, Sequence[Seen]], kind: Literal["busiest", "neighbours"]
) -> dict[str, float]:
    """Return the CPU share of each process, largest first, by its name or, with several hosts,
    'host: name'.
    """
    shares = {}
    for host, seen in by_host.items():
        of_kind = [one[kind] for one in seen]
        for name in dict.fromkeys(chain.from_iterable(of_kind)):
            shown = f"{host}: {name}" if host else name
            shares[shown] = _mean(seen, [known.get(name, 0.0) for known in of_kind])
    return dict(sorted(shares.items(), key=lambda one: -one[1]))


def _mean(seen: Sequence[Seen], shares: Iterable[float]) -> float:
    """Return the mean of *shares*, each weighted by the number of cores and the length of its
    observation.

    seen: the observation to which each share belongs, in the same order
    """
    return fmean(shares, [one["cores"] * one["window_ns"] for one in seen])


def _named(shares: Mapping[str, float]) -> Message:
    names = [verbatim(f"{name} {_percent(share)}") for name, share in shares.items()]
    return message(" ({names})", names=listed(names)) if names else NOTHING


def _percent(share: float) -> str:
    return percent(share) if share < SMALL else whole_percent(share)
