"""A sensitivity analysis: what the verdicts would be had both arms waited alike for cores. It decides none."""

from core.messages import Message, message
from reports.document.model import Line, Section, Table, columns, number, words
from reports.document.values import hundredths, ratio
from reports.rows.comparisons import Comparison
from reports.sections.comparisons import by_setting
from reports.statistics.evidence import WORDS
from reports.view import View


def sensitivity(view: View) -> Section:
    """A line for each step whose cells say how long threads waited; folded."""
    known = [one for one in view.compared if one.adjusted and one.verdict != "invalid"]
    heads = (
        message("Threads waiting, before"),
        message("after"),
        message("Ratio [95 %]"),
        message("Waits alike [95 %]"),
    )
    table = Table(
        name=message("Had both arms waited alike for cores"),
        columns=columns((message("Step"), message("Verdict")), heads),
        groups=by_setting(known, _line, view),
    )
    note = message(
        "A sensitivity analysis, which decides no verdict. The log-ratio is fitted by least squares on how many more "
        "threads were ready to run without a core under the second arm, block by block; the ratio is where that is "
        "none. How long threads wait is also a result, so this may take out a part of the effect."
    )
    title = message("Sensitivity analysis: waiting for cores")
    return Section(key="sensitivity", title=title, tables=(table,), notes=(note,) if known else (), folded=True)


def _line(one: Comparison, view: View) -> Line:
    cells, known = view.traces.of(one), one.adjusted
    value = number(known.get("ratio"), ratio, cells, "adjusted", low=known.get("low"), high=known.get("high"))
    return (
        words(one.label, cells=cells, leads=True),
        words(_would_be(one)),
        *(number(known[side], hundredths, cells, "waiting") for side in ("denominator", "numerator")),
        number(one.ratio, ratio, cells, "ratio", low=one.low, high=one.high),
        value,
    )


def _would_be(one: Comparison) -> Message:
    if "verdict" not in one.adjusted:
        return message("One arm waited more in every block: nothing shows what the ratio would be without that.")
    if one.adjusted["verdict"] == one.verdict:
        return message("The verdict would be the same: {word}.", word=WORDS[one.verdict])
    word = WORDS[one.adjusted["verdict"]]
    return message("The verdict would not be the same: {word}, not {seen}.", word=word, seen=WORDS[one.verdict])
