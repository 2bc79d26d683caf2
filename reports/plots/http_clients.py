"""Two plots of the HTTP clients: serialisation by client and runtime, and what the workers did when, side by side."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.contests.http_lines import Line, by_setting, lines_of, timeline, told_timelines
from reports.plots.style import head_inches, legend, line_sign, looks, title
from reports.rows.summary import Row

WIDTH_INCHES = 9.0
SHARES = (1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50)
BEYOND = 1000.0
BARS = ("#0072B2", "#56B4E9")  # by turns, so that one request is told from the next


def draw(rows: Sequence[Row], titles: Mapping[str, str]) -> dict[str, Figure]:
    """The plots that the rows have something for, by file name without ending; within `styled()`."""
    settings = by_setting(lines_of(rows, titles))
    if not settings:
        return {}
    first = next(iter(settings.values()))
    made = {"serialisation": serialisation_figure(settings)}
    chosen = told_timelines(first)
    return {**made, "timeline": timeline_figure(chosen)} if chosen else made


def serialisation_figure(settings: Mapping[str, Sequence[Line]]) -> Figure:
    """A panel for each setting: Bench / LMean with its interval, a line for each client, a mark for each runtime."""
    runtimes = list(dict.fromkeys(one.row.runtime for some in settings.values() for one in some))
    clients = list(dict.fromkeys(one.client for some in settings.values() for one in some))
    head = head_inches(runtimes, WIDTH_INCHES)
    height = head + len(settings) * (0.9 + 0.3 * len(clients))
    figure = Figure(figsize=(WIDTH_INCHES, height))
    panels = figure.subplots(len(settings), 1, squeeze=False)[:, 0]
    most = max(2.0, *(1.15 * one.serialisation.value for some in settings.values() for one in some))
    for panel, (setting, some) in zip(panels, settings.items(), strict=True):
        _serialisation_panel(panel, setting, some, clients, runtimes, most)
    figure.tight_layout(rect=(0, 0, 1, 1 - head / height))
    title(
        figure,
        "Serialisation of the workers",
        "Bench / LMean with its 95 % interval: 1 is all at once. A line that ends at the edge goes on.",
    )
    found = looks(runtimes)
    legend(figure, [line_sign(found[name]) for name in runtimes], runtimes)
    return figure


def _serialisation_panel(
    panel: Axes, setting: str, some: Sequence[Line], clients: Sequence[str], runtimes: Sequence[str], most: float
) -> None:
    found = looks(runtimes)
    for one in some:
        look, share = found[one.row.runtime], one.serialisation
        place = clients.index(one.client) + 0.15 * (runtimes.index(one.row.runtime) - (len(runtimes) - 1) / 2)
        ends = [[share.value - share.low], [max(0.0, min(share.high, BEYOND) - share.value)]]
        panel.errorbar(share.value, place, xerr=ends, color=look.colour, marker=look.marker, markersize=4, linewidth=1)
    panel.axvline(1, color="black", linewidth=0.8)
    panel.set_yticks(range(len(clients)), clients)
    panel.set_ylim(len(clients) - 0.5, -0.5)
    panel.set_xscale("log")
    panel.set_xticks(SHARES, [f"{share:g}" for share in SHARES])
    panel.minorticks_off()
    panel.set_xlim(0.9, most)
    panel.set_xlabel("Bench / LMean")
    panel.set_title(setting, loc="left")


def timeline_figure(lines: Sequence[Line]) -> Figure:
    """For each line a panel: a bar for each of the workers' first requests, on one axis of time."""
    height = 0.9 + 1.9 * len(lines)
    figure = Figure(figsize=(WIDTH_INCHES, height))
    panels = figure.subplots(len(lines), 1, squeeze=False, sharex=True)[:, 0]
    for panel, one in zip(panels, lines, strict=True):
        for number, requests in enumerate(timeline(one)):
            bars = [(start / 1e6, (end - start) / 1e6) for start, end in requests]
            panel.broken_barh(bars, (number - 0.4, 0.8), facecolors=BARS, linewidth=0)
        panel.set_title(f"{one.client}, {one.row.runtime}: {one.in_flight:.1f} requests in flight")
        panel.set_ylabel("worker")
        panel.set_yticks(range(len(timeline(one))), map(str, range(1, len(timeline(one)) + 1)), fontsize=6.5)
        panel.set_ylim(len(timeline(one)) - 0.3, -0.7)
    panels[-1].set_xlabel("time since the release [ms]")
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.65 / height))
    title(
        figure,
        "What each worker did when",
        "A bar is a request, a line a worker: bars above one another are under way at once.",
    )
    return figure
