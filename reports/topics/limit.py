"""The machine's limit: what share of a native service's requests/s each Python service reaches."""

from collections.abc import Sequence

from core.messages import Message, message
from reports.document.model import Line, Section, Table, arm, estimate, estimated, number, plain_table, traced, words
from reports.document.values import hundredths, whole
from reports.facts.cells import setting_key
from reports.facts.limits import Share, shares
from reports.facts.settings import parameter_values
from reports.facts.traces import of_rows
from reports.view import View

PLACE = 90
HOW = message(
    "The machine's limit is the same protocol and the same count in Rust, called by the native load generator. "
    "Python clients take CPU time from the service: with --client-runtime native every service is called by that "
    "generator, and the share is the service's alone."
)


def section(view: View) -> Section:
    """A sentence for each setting, on its last runtime in the plan's order, and every row's share."""
    reached = shares(view.rows)
    named = [share for share in reached if share.row.runtime in view.run.runtimes]
    last = [*{setting_key(share.row.system, share.row.params): share for share in named}.values()]
    return Section(
        key="limit",
        title=message("The machine's limit"),
        sentences=tuple(_sentence(share, view) for share in last),
        tables=(_table(reached, view),),
        notes=(HOW,) if reached else (),
    )


def _sentence(share: Share, view: View) -> Message:
    sentence = message(
        "{system} on {runtime}, called by {clients}, reaches {share} of the machine's limit at {setting}.",
        system=view.settings.number(share.row.system),
        runtime=share.row.runtime,
        clients=message("the native client") if share.has_native_client else message("Python clients"),
        share=estimate(share.share, hundredths),
        setting=_setting(share),
    )
    return traced(sentence, of_rows([share.limit, share.row]), "limit share")


def _where(share: Share, view: View) -> Message:
    return view.settings.where(share.row.system, share.row.params, share.row.runtime)


def _setting(share: Share) -> str:
    return parameter_values(share.row.params, share.names)


def _table(reached: Sequence[Share], view: View) -> Table:
    numbers = (message("requests/s"), message("limit, requests/s"), message("share [95 %]"))
    heads = (message("Runtime"), message("System"), message("Setting"), message("Clients"))
    lines = [_line(share, view) for share in reached]
    return plain_table(message("Shares of the machine's limit"), heads, lines, numbers, folded=True)


def _line(share: Share, view: View) -> Line:
    cells, limit = of_rows([share.row]), of_rows([share.limit])
    rates = [row.figures["requests_per_s"] if row.figures else None for row in (share.row, share.limit)]
    return (
        arm(share.row.runtime, view.looks[share.row.runtime], cells),
        words(share.row.system),
        words(_setting(share)),
        words(message("native") if share.has_native_client else message("Python")),
        number(rates[0], whole, cells, "requests_per_s"),
        number(rates[1], whole, limit, "requests_per_s"),
        estimated(share.share, hundredths, f"{limit} {cells}", "limit share"),
    )
