"""report.html: one page that needs nothing else, made from what was worked out of a run."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from core.errors import BadInput
from reports import fairness, memory, scaling_report, topology
from reports.arms import are_arms
from reports.comparisons import OVER_ALL, Comparison, is_timed
from reports.page import environment, seed_tables, tables, validity
from reports.page.bars import bars
from reports.page.cells import cell_table
from reports.page.figures import Section
from reports.page.forest import forest, legend, reasons
from reports.page.latencies import latencies
from reports.page.look import definitions
from reports.page.memories import memories, sizes
from reports.page.records import record_chapter
from reports.page.settings import Settings
from reports.page.stacks import stacks
from reports.page.svg import Html, tag, text
from reports.page.swept import swept
from reports.page.texts import TEXTS, TITLES
from reports.page.topologies import topologies
from reports.page.traces import Traces
from reports.page.waterfall import waterfall
from reports.phrases import CAUSES
from reports.seed import REQUESTS
from reports.view import View
from reports.wording import LANGUAGES, ratio_text, said, verdict

TEMPLATES = Path(__file__).resolve().parent / "templates"


def page(view: View, *, lang: str = "en", sections: Sequence[Section] = ()) -> str:
    """The page of a run as HTML.

    lang: en or zh. sections: chapters that other modules make; they stand behind memory, before the cells
    Raises BadInput for another language.
    """
    words = TEXTS[language(lang)]
    settings, traces = Settings(view, words, TITLES.get(lang, {})), Traces(view)
    made: str = template("page.html").render(
        lang=lang,
        words=words,
        view=view,
        run=view.run,
        definitions=definitions(),
        sections=[one for one in sections if one.body],
        record=record_chapter(view),
        cells=cell_table(view, settings, words),
        **_verdicts(view, settings, traces, words, lang),
        **_validity(view, sections, lang),
        **_measured(view, settings, words, lang),
        **_surroundings(view, words),
    )
    return made


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
    sentences = [
        [(clause.text, clause.end, traces.of(clause.comparison)) for clause in sentence]
        for sentence in verdict(compared, lang)
    ]
    return {
        "verdict": sentences,
        "verdict_range": _range(compared, settings, lang),
        "open_reasons": _open_reasons(compared, lang),
        "forest": forest(compared, settings, traces, words),
        "forest_caption": f"{words['forest_caption']} {legend(words)}.",
        "reasons": reasons(compared, settings, traces, words, lang),
        "waterfall": waterfall([one for one in compared if not are_arms(one.denominator)], settings, traces, words),
    }


def _range(compared: Sequence[Comparison], settings: Settings, lang: str) -> str:
    """How far the settings are apart in what removing the lock does; empty for fewer than two."""
    known = sorted(
        (one for one in compared if one.step == "lock" and one.ratio and one.system != OVER_ALL),
        key=lambda one: one.ratio or 0.0,
    )
    if len(known) < 2:
        return ""
    least, most = known[0], known[-1]
    return TEXTS[lang]["range"].format(
        cause=CAUSES[lang]["lock"],
        low=ratio_text(least.ratio or 0.0),
        high=ratio_text(most.ratio or 0.0),
        low_where=settings.short(least.system, least.params),
        high_where=settings.short(most.system, most.params),
    )


def _open_reasons(compared: Sequence[Comparison], lang: str) -> list[str]:
    """Why the steps that the verdict tells of are open: each obstacle once, and how many more blocks they take."""
    told = [one for one in validity.answering(compared) if one.step != "aa"]
    some = [one for one in told if one.verdict in ("inconclusive", "invalid")]
    needed = [more[0] for one in some if (more := validity.blocks_needed(one))]
    whys = [one.why.partition("; about ")[0] for one in some]
    if needed:
        span = " to ".join(str(one) for one in dict.fromkeys([min(needed), max(needed)]))
        whys.append(f"about {span} more blocks are needed")
    return [said(why, lang) for why in dict.fromkeys(whys)]


def _validity(view: View, sections: Sequence[Section], lang: str) -> dict[str, Any]:
    return {
        "checks": validity.checks(view, lang),
        "rests_on": validity.rests_on(view, lang),
        "gaps": validity.gaps(view, sections, lang),
    }


def _measured(view: View, settings: Settings, words: Mapping[str, str], lang: str) -> dict[str, Any]:
    run = view.run
    timed = is_timed(run)
    sizes_here = seed_tables.sizes(view.rows)
    unlike = sizes_here not in ([], [REQUESTS])
    ours = " - ".join(f"{one:,}" for one in dict.fromkeys([sizes_here[0], sizes_here[-1]])) if unlike else ""
    return {
        "bars": bars(view, settings, words),
        "bars_caption": words["throughput_caption" if timed else "completion_caption"],
        "seed_tables": [] if timed else seed_tables.seed_tables(view, settings, words, lang),
        "seed_note": words["seed_note"].format(blocks=f"{run.plan['blocks']} {words['blocks']}"),
        "seed_size": words["seed_size"].format(ours=ours) if unlike else "",
        "sweeps": swept(view, settings, words),
        "sweep_lines": _told(scaling_report, run, lang),
        "latency": latencies(settings, words),
        "stacks": stacks(settings, words),
        "stack_lines": [*_told(fairness, run, lang), *_profiles(view)],
        "topology": topologies(run, settings, words),
        "topology_lines": _told(topology, run, lang),
        "memory": memories(run, settings, words),
        "memory_sizes": sizes(settings, run, words),
        "memory_lines": _told(memory, run, lang),
    }


def _told(module: Any, run: Any, lang: str) -> list[str]:
    return [said(line, lang) for line in module.sentences(run)]


def _profiles(view: View) -> list[str]:
    return [f"perf, system {one['system']}, {one['runtime']}: {one['sentence']}." for one in view.run.profiles]


def _surroundings(view: View, words: Mapping[str, str]) -> dict[str, Any]:
    return {
        "machine": environment.machine(view.run, words),
        "runtime_table": environment.runtimes(view.run, words),
        "plan_table": environment.plan(view.run, words),
    }
