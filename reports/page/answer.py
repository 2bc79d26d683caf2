"""What the page says first: the verdict, how far settings are apart, and why something is open. Pure."""

from collections.abc import Mapping, Sequence

from reports.page.gaps import answering
from reports.page.pieces import Piece, Sentence, filled, together
from reports.page.settings import Settings
from reports.page.traces import Traces
from reports.rows.comparisons import OVER_ALL, Comparison
from reports.words.phrases import CAUSES
from reports.words.translation import said
from reports.words.wording import Clause, ratio_text, verdict

Words = Mapping[str, str]
OPEN = ("inconclusive", "invalid")


def sentences(compared: Sequence[Comparison], traces: Traces, lang: str) -> list[Sentence]:
    """The verdict; each of its clauses names its cells."""
    return [
        Sentence(pieces=tuple(piece for clause in some for piece in clause_pieces(clause, traces)))
        for some in verdict(compared, lang)
    ]


def clause_pieces(clause: Clause, traces: Traces) -> tuple[Piece, Piece]:
    """A clause with its cells, and what follows it."""
    return Piece(text=clause.text, cells=traces.of(clause.comparison), figure="verdict"), Piece(text=clause.end)


def span(
    compared: Sequence[Comparison], settings: Settings, traces: Traces, words: Words, lang: str
) -> Sentence | None:
    """How far the settings are apart in what removing the lock does; None for fewer than two."""
    known = sorted(
        (one for one in compared if one.step == "lock" and one.ratio and one.system != OVER_ALL),
        key=lambda one: one.ratio or 0.0,
    )
    if len(known) < 2:
        return None
    least, most = known[0], known[-1]
    pieces = filled(
        words["range"],
        cause=CAUSES[lang]["lock"],
        low=Piece(text=ratio_text(least.ratio or 0.0), cells=traces.of(least), figure="ratio"),
        high=Piece(text=ratio_text(most.ratio or 0.0), cells=traces.of(most), figure="ratio"),
        low_where=settings.short(least.system, least.params),
        high_where=settings.short(most.system, most.params),
    )
    return Sentence(pieces=pieces)


def why_open(compared: Sequence[Comparison], traces: Traces, words: Words, lang: str) -> Sentence | None:
    """Why the steps that the verdict tells of are open: each obstacle once, and how many more blocks they take."""
    some = [one for one in answering(compared) if one.step != "aa" and one.verdict in OPEN]
    whys: dict[str, list[Comparison]] = {}
    for one in some:
        hopeless = one.verdict == "inconclusive" and one.blocks_needed is None
        whys.setdefault(said(one.why if hopeless else one.obstacle, lang), []).append(one)
    needed = [one for one in some if one.blocks_needed is not None]
    if needed:
        whys[_more_blocks(needed, words)] = needed
    if not whys:
        return None
    told = [Piece(text=why, cells=together(map(traces.of, about))) for why, about in whys.items()]
    between = Piece(text=words["whys_between"])
    joined = [piece for one in told for piece in (between, one)][1:]
    return Sentence(pieces=(Piece(text=words["why_open"]), *joined, Piece(text=words["full_stop"])))


def _more_blocks(needed: Sequence[Comparison], words: Words) -> str:
    more = sorted({(one.blocks_needed or 0) - one.blocks for one in needed})
    least, most = more[0], more[-1]
    span_ = str(least) if least == most else words["more_blocks_between"].format(least=least, most=most)
    return words["more_blocks"].format(n=span_)
