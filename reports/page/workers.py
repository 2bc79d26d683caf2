"""Two figures of the HTTP clients: their serialisation by client and runtime, and what each worker did when. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reports.contests.http_lines import Line, by_setting, lines_of, ratio_text, timeline, told_timelines
from reports.page.look import Look, looks
from reports.page.svg import Html, Scale, joined, percent, tag, text
from reports.page.tables import Datum, Group, Table, axis, drawing, heads, number, runtime, sign
from reports.page.traces import of_rows
from reports.rows.series import arms
from reports.rows.view import View

HEIGHT, WORKER_HEIGHT, GAP = 22, 12, 8
TICKS = (1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50)
BEYOND = 1.15
BY_TURNS = ("0.9", "0.45")  # opacities, so that one request is told from the next
TEXTS = {
    "en": {
        "client": "client",
        "runtime": "runtime",
        "serialisation": "Bench / LMean",
        "in_flight": "in flight",
        "serialisation_caption": (
            "Serialisation of the workers with its 95 % interval: at 1 all work at once, at the number of workers one "
            "after the other. An interval that ends at the edge goes on."
        ),
        "timeline": "each worker's first requests",
        "timeline_caption": (
            "What each worker did when, in milliseconds since the release: a line for each worker, a bar for each "
            "request. Bars above one another were under way at once."
        ),
        "milliseconds": "ms since the release",
    },
    "zh": {
        "client": "客户端",
        "runtime": "运行时",
        "serialisation": "Bench / LMean",
        "in_flight": "同时进行",
        "serialisation_caption": (
            "各工作者的串行程度及 95 % 区间：1 表示全部同时工作，等于工作者数则表示逐个进行。到达边缘的区间仍会延伸。"
        ),
        "timeline": "每个工作者最初的请求",
        "timeline_caption": (
            "每个工作者何时做了什么（自释放起的毫秒数）：一行一个工作者，一条一个请求。上下重叠的条同时进行。"
        ),
        "milliseconds": "自释放起的毫秒数",
    },
}


@dataclass(frozen=True, kw_only=True)
class WorkersFigure:
    """key: its id on the page."""

    key: str
    table: Table
    caption: str


def worker_figures(view: View, lang: str) -> tuple[WorkersFigure, ...]:
    """What there is to show of the workers; nothing where the run's clients are no HTTP clients."""
    if view.run.plan.get("view") != "http-clients":
        return ()
    words, settings = TEXTS[lang], by_setting(lines_of(view.rows, view.titles))
    told = told_timelines(next(iter(settings.values()), []))
    made = (
        WorkersFigure(
            key="serialisation", table=_serialisation(view, settings, words), caption=words["serialisation_caption"]
        ),
        WorkersFigure(key="timeline", table=_timelines(told, words), caption=words["timeline_caption"]),
    )
    return tuple(one for one in made if one.table)


def _serialisation(view: View, settings: Mapping[str, Sequence[Line]], words: Mapping[str, str]) -> Table:
    """A group for each setting, a line for each client under each runtime, all on one scale."""
    found = looks(arms(view.run))
    every = [one for some in settings.values() for one in some]
    most = max([2.0, *(BEYOND * one.serialisation.value for one in every)])
    scale = Scale(low=0.95, high=most, is_log=True)
    ticks = [(scale.at(one), f"{one:g}") for one in TICKS if one <= most]
    plot = Datum(drawing=axis(ticks, words["serialisation"]), kind="plot")
    names = (words["serialisation"], words["in_flight"])
    return Table(
        name=words["serialisation"],
        heads=heads(words["client"], words["runtime"], plot, *names, numbers=names),
        groups=tuple(
            Group(head=setting, lines=tuple(_serial(one, found[one.row.runtime], scale) for one in some))
            for setting, some in settings.items()
        ),
        kind="bars",
        keys=tuple((sign(look), name) for name, look in found.items()),
    )


def _serial(one: Line, look: Look, scale: Scale) -> tuple[Datum, ...]:
    cells, told = of_rows([one.row]), ratio_text(one.serialisation)
    return (
        Datum(text=one.client, cells=cells, leads=True),
        runtime(one.row.runtime, look, cells),
        Datum(drawing=_interval(one, look, scale, told), kind="plot", cells=cells),
        number(told, cells),
        number(f"{one.in_flight:.1f}", cells),
    )


def _interval(one: Line, look: Look, scale: Scale, told: str) -> Html:
    value, low, high = (
        scale.at(end) for end in (one.serialisation.value, one.serialisation.low, one.serialisation.high)
    )
    middle = HEIGHT / 2
    unity = percent(scale.at(1.0))
    return drawing(
        HEIGHT,
        f"{one.client}, {one.row.runtime}: {told}",
        tag("line", x1=unity, x2=unity, y1="0", y2=str(HEIGHT), class_="unity"),
        tag("line", x1=percent(low), x2=percent(high), y1=middle, y2=middle, class_=f"whisker {look.name}"),
        look.marker(percent(value), middle, told),
    )


def _timelines(some: Sequence[Line], words: Mapping[str, str]) -> Table:
    """A line for each of *some*, all on one axis of time."""
    ends = [end for one in some for worker in timeline(one) for _, end in worker]
    scale = Scale(low=0.0, high=max(ends, default=1) / 1e6)
    plot = Datum(
        drawing=axis([(scale.at(one), f"{one:g}") for one in scale.ticks(6)], words["milliseconds"]), kind="plot"
    )
    lines = tuple(
        (
            Datum(text=f"{one.client}, {one.row.runtime}", cells=of_rows([one.row]), leads=True),
            Datum(drawing=_workers(one, scale), kind="plot", cells=of_rows([one.row])),
            number(f"{one.in_flight:.1f}", of_rows([one.row])),
        )
        for one in some
    )
    return Table(
        name=words["timeline"],
        heads=heads(words["client"], plot, words["in_flight"], numbers=[words["in_flight"]]),
        groups=(Group(lines=lines),),
        kind="bars",
    )


def _workers(one: Line, scale: Scale) -> Html:
    """A strip for each worker, the first at the top."""
    told = timeline(one)
    height = WORKER_HEIGHT * len(told)
    lanes = joined(_lane(requests, (place + 0.5) * WORKER_HEIGHT, scale) for place, requests in enumerate(told))
    box = {"viewBox": f"0 0 1000 {height}", "width": "100%", "height": str(height), "preserveAspectRatio": "none"}
    return drawing(
        height + GAP, f"{one.client}, {one.row.runtime}", tag("svg", tag("title", text(one.client)), lanes, **box)
    )


def _lane(requests: Sequence[tuple[int, int]], place: float, scale: Scale) -> Html:
    """The bars of one worker, in two paths: a request and the next differ in opacity."""
    bars = [f"M{10 * scale.at(start / 1e6):.1f} {place:g}H{10 * scale.at(end / 1e6):.1f}" for start, end in requests]
    return joined(
        tag(
            "path",
            d="".join(bars[turn::2]),
            stroke="currentColor",
            stroke_width=str(WORKER_HEIGHT - 3),
            stroke_opacity=opacity,
        )
        for turn, opacity in enumerate(BY_TURNS)
        if bars[turn::2]
    )
