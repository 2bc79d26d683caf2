"""report.html: one page that needs nothing else, made from what was worked out of a run."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from core.errors import BadInput
from core.messages import Message
from core.result import Run
from reports.findings import fairness, memory, topology
from reports.findings import scaling as scaling_report
from reports.page import answer, checks, environment, gaps, parameters, seed_tables, tables
from reports.page.bars import bars
from reports.page.cells import cell_table
from reports.page.forest import forest, legend, reasons
from reports.page.latencies import latencies
from reports.page.look import definitions
from reports.page.memories import memories, sizes
from reports.page.pieces import Piece, Sentence, filled
from reports.page.records import record_chapter
from reports.page.settings import Settings
from reports.page.stacks import stacks
from reports.page.svg import Html, tag, text
from reports.page.swept import swept
from reports.page.texts import TEXTS, TITLES
from reports.page.topologies import topologies
from reports.page.traces import Traces, of_cells
from reports.page.waterfall import waterfall
from reports.record.seed import REQUESTS
from reports.rows.arms import are_arms
from reports.rows.comparisons import is_timed
from reports.rows.view import View
from reports.words.translation import said
from reports.words.wording import LANGUAGES

TEMPLATES = Path(__file__).resolve().parent / "templates"


def page(view: View, *, lang: str = "en") -> str:
    """The page of a run as HTML. lang: en or zh. Raises BadInput for another language."""
    words = TEXTS[language(lang)]
    settings, traces = Settings(view, words, TITLES.get(lang, {})), Traces(view)
    chapters = {
        **_verdicts(view, settings, traces, words, lang),
        **_measured(view, settings, words, lang),
    }
    made: str = template("page.html").render(
        lang=lang,
        words=words,
        view=view,
        run=view.run,
        definitions=definitions(),
        size=parameters.size_line(view, words),
        record=record_chapter(view, words, lang),
        cells=cell_table(view, settings, words, lang),
        checks=checks.checks(view, lang),
        rests_on=checks.rests_on(view, lang),
        gaps=gaps.gaps(view, _shown(chapters), lang),
        **chapters,
        **_surroundings(view, settings, words, lang),
    )
    return made


def _shown(chapters: Mapping[str, Any]) -> dict[str, bool]:
    """Which of the page's own chapters there are."""
    return {
        "comparisons": bool(chapters["forest"]),
        "waterfall": bool(chapters["waterfall"]),
        "completion": bool(chapters["bars"]),
        "sweeps": bool(chapters["sweeps"]),
        "latency": bool(chapters["latency"].panels),
        "costs": bool(chapters["stacks"]),
        "topology": bool(chapters["topology"]),
    }


def language(lang: str) -> str:
    """*lang*, if the page has texts in it. Raises BadInput."""
    if lang not in LANGUAGES:
        raise BadInput(f"lang is {lang}; it must be one of {', '.join(LANGUAGES)}.")
    return lang


@cache
def template(name: str) -> Any:
    """A template of ours, with all that they use."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["soft"] = soft
    made.filters["unbroken"] = unbroken
    made.globals["sign"] = tables.sign
    return made.get_template(name)


def soft(told: str) -> Html:
    """Text whose long names may break behind an underscore."""
    return Html(text(told).replace("_", "_<wbr>"))


def unbroken(command: str) -> Html:
    """A command whose words stay whole: a flag that breaks at its hyphen is hard to read."""
    return Html(" ".join(tag("span", text(word)) for word in command.split()))


def _verdicts(view: View, settings: Settings, traces: Traces, words: Mapping[str, str], lang: str) -> dict[str, Any]:
    compared = [one for one in view.comparisons if traces.of(one)]
    return {
        "verdict": answer.sentences(compared, traces, lang),
        "verdict_range": answer.span(compared, settings, traces, words, lang),
        "open_reasons": answer.why_open(compared, traces, words, lang),
        "forest": forest(compared, settings, traces, words, lang),
        "forest_caption": f"{words['forest_caption']} {legend(words)}.",
        "reasons": reasons(compared, settings, traces, words, lang),
        "waterfall": waterfall([one for one in compared if not are_arms(one.denominator)], settings, traces, words),
    }


def _measured(view: View, settings: Settings, words: Mapping[str, str], lang: str) -> dict[str, Any]:
    run = view.run
    timed = is_timed(run)
    sizes_here = seed_tables.sizes(view.rows)
    unlike = sizes_here not in ([], [REQUESTS])
    ours = " - ".join(f"{one:,}" for one in dict.fromkeys([sizes_here[0], sizes_here[-1]])) if unlike else ""
    return {
        "bars": bars(view, settings, words, lang),
        "bars_caption": words["throughput_caption" if timed else "completion_caption"],
        "seed_tables": [] if timed else seed_tables.seed_tables(view, settings, words, lang),
        "seed_note": words["seed_note"].format(blocks=f"{run.plan['blocks']} {words['blocks']}"),
        "seed_size": words["seed_size"].format(ours=ours) if unlike else "",
        "sweeps": swept(view, settings, words),
        "sweep_lines": _told(scaling_report, run, lang),
        "latency": latencies(settings, words),
        "stacks": stacks(settings, words),
        "stack_lines": [*_told(fairness, run, lang), *_profiles(view, words, lang)],
        "topology": topologies(run, settings, words),
        "topology_lines": _told(topology, run, lang),
        "memory": memories(run, settings, words),
        "memory_sizes": sizes(settings, run, words),
        "memory_lines": _told(memory, run, lang),
    }


def _told(module: Any, run: Run, lang: str) -> list[Sentence]:
    """What a module of reports says of the run, each sentence with its cells."""
    return [Sentence(pieces=(Piece(text=said(one.text, lang), cells=of_cells(one.cells)),)) for one in module.told(run)]


def _profiles(view: View, words: Mapping[str, str], lang: str) -> list[Sentence]:
    """perf's own figures, which are of no cell: they come from services that were started once more."""
    return [
        Sentence(
            pieces=filled(
                words["profile"],
                system=one["system"],
                runtime=one["runtime"],
                sentence=said(str(Message.from_json(one["sentence"])), lang),
            )
        )
        for one in view.run.profiles
    ]


def _surroundings(view: View, settings: Settings, words: Mapping[str, str], lang: str) -> dict[str, Any]:
    return {
        "machine": environment.machine(view.run, words),
        "runtime_table": environment.runtimes(view.run, words),
        "plan_table": environment.plan(view.run, words),
        "common": parameters.common(view, words, lang),
        "varying": parameters.varying(view, settings, words),
    }
