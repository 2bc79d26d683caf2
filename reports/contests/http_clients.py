"""The record of the experiment http-clients: what each client's workers did at once, and what the GIL does to that."""

from collections.abc import Mapping, Sequence
from statistics import median

from core.result import Run
from core.runtime import NATIVE
from reports.contests.http_lines import Line, by_setting, lines_of, ratio_text
from reports.contests.http_story import answer, story
from reports.contests.seed_http import seed_tables
from reports.rows.standings import Short
from reports.rows.summary import Row
from reports.words.absent import absent_lines
from reports.words.markdown import markdown_table

SAMPLES_FOR_P999 = 10_000
HEADS = (
    "client",
    "runtime",
    "async/sync",
    "Mean (ms)",
    "P99 (ms)",
    "P999 (ms)",
    "Max (ms)",
    "LMean (ms)",
    "Bench (ms)",
    "serialisation [95 %]",
    "in flight",
    "connect (ms)",
)
HOW = (
    "Mean, P99, P999 and Max are of single requests, nearest rank, of all blocks together; P999 needs 10,000 samples. "
    "LMean and Bench are medians over the blocks. Serialisation is Bench / LMean: 1 where all workers work at once. A "
    "worker that holds the GIL is asked for it after 5 ms, so loops much longer than that take turns, all last as long "
    "as Bench, and their serialisation is near 1 although one works at a time: that shows in the number in flight, the "
    "median latency x requests / Bench. Few requests have a turn's wait in them, and the median none. The connect is "
    "apart, and no request of the warm-up is counted."
)
SIDES = ("Mean", "P99", "P999", "Max", "LMean", "Bench", "serialisation")
ASYNC = {"thread": "sync", "task": "async"}


def http_clients_page(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """Markdown: the story, a table for each setting, the runtimes side by side, the seed's tables."""
    told = "\n".join(f"- {text}" for text in sentences(run, rows, titles))
    parts = [f"# {run.plan['name']}: {run.run_id}", told]
    for setting, some in by_setting(lines_of(rows, titles)).items():
        parts += [f"## {setting or 'All clients'}", markdown_table(HEADS, [figures(one) for one in some], {*HEADS[3:]})]
        python = [one for one in some if one.row.runtime != NATIVE]
        parts += ["### Runtimes side by side (ms)", side_by_side(python)] if python else []
    return "\n\n".join([*parts, HOW, *seed_tables()]) + "\n"


def figures(one: Line) -> list[str]:
    """A line's figures for HEADS."""
    latency = one.row.latency
    connect = [cell.connect["mean_ns"] for cell in one.row.good if cell.connect.get("count")]
    return [
        one.client,
        one.row.runtime,
        ASYNC.get(one.worker, "-"),
        _ms(latency.total_ns / latency.count),
        _ms(latency.quantile(0.99)),
        _ms(latency.quantile(0.999)) if latency.count >= SAMPLES_FOR_P999 else "-",
        _ms(latency.max_ns),
        _ms(one.lmean_ns),
        _ms(one.bench_ns),
        ratio_text(one.serialisation),
        f"{one.in_flight:.1f}",
        _ms(median(connect)) if connect else "-",
    ]


def _ms(value_ns: float) -> str:
    return f"{value_ns / 1e6:,.2f}"


def side_by_side(python: Sequence[Line]) -> str:
    """Markdown: a client a line, for each runtime a column set. *python*: no native programs, which have none."""
    runtimes = list(dict.fromkeys(one.row.runtime for one in python))
    texts = {(one.client, one.row.runtime): [*figures(one)[3:9], f"{one.serialisation.value:.2f}"] for one in python}
    clients = list(dict.fromkeys(one.client for one in python))
    table = [
        [client, *(text for runtime in runtimes for text in texts.get((client, runtime), ["-"] * len(SIDES)))]
        for client in clients
    ]
    heads = [f"{runtime} {side}" for runtime in runtimes for side in SIDES]
    return markdown_table(["client", *heads], table, set(heads))


def shorts(rows: Sequence[Row], titles: Mapping[str, str]) -> list[Short]:
    """What a terminal of 80 columns has room for: a table for each setting."""
    heads = ("client", "runtime", "mean ms", "Bench ms", "serial", "in flight")
    return [
        Short(
            title=setting or "All clients",
            heads=heads,
            lines=tuple(
                (_brief(line[0]), line[1], line[3], line[8], line[9].split(" ")[0], line[10])
                for line in map(figures, some)
            ),
            rows=tuple(one.row for one in some),
        )
        for setting, some in by_setting(lines_of(rows, titles)).items()
    ]


def _brief(client: str) -> str:
    """Beast (GIL held), of 'Python over Beast (GIL held)'."""
    return client.removeprefix("Python ").removeprefix("over ")


def sentences(run: Run, rows: Sequence[Row], titles: Mapping[str, str]) -> list[str]:
    """The answer, the story of each setting from the run's own figures, and what is not there."""
    settings = by_setting(lines_of(rows, titles))
    first = answer(settings)
    told = [text for setting, some in settings.items() for text in story(setting, some)]
    return [
        *([first] if first else []),
        *(told if settings else ["Nothing was measured."]),
        *absent_lines(run, titles),
    ]
