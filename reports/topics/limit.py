"""The machine's limit: what share of a native service's requests/s each Python service reaches."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from core.messages import NOTHING, Message, message
from core.runtime import NATIVE
from reports.document.model import Section, estimate, traced
from reports.document.shapes import Col, arm_col, col, table
from reports.document.values import hundredths
from reports.facts.arrangement import varying
from reports.facts.measures import THROUGHPUT
from reports.facts.settings import parameter_values
from reports.facts.standings import rate_share
from reports.facts.summary import Row, setting_key
from reports.facts.traces import of_row, of_rows
from reports.statistics.stats import Estimate
from reports.view import View

PLACE = 90
TITLE = message("The machine's limit")
ALWAYS_NAMED = "CALC_TARGET"
HOW = message(
    "The machine's limit is the same protocol and the same count in Rust, called by the native load generator. "
    "Python clients take CPU time from the service: with --client-runtime native every service is called by that "
    "generator, and the share is the service's alone."
)


@dataclass(frozen=True, kw_only=True)
class Share:
    """A row, and its share of the requests/s that the native service, *limit*, reaches at the same setting.

    setting: CALC_TARGET and whatever else varies
    """

    row: Row
    limit: Row
    share: Estimate
    setting: str

    @property
    def has_native_client(self) -> bool:
        """Whether the native load generator calls the Python service, as it calls the limit."""
        return self.row.good[0].client_runtime == NATIVE


def section(view: View) -> Section:
    """Return a sentence for each setting, on its last runtime in the plan's order, and every row's share."""
    shares = [*_shares(view)]
    named = [share for share in shares if share.row.runtime in view.run.runtimes]
    last = {setting_key(share.row.system, share.row.params): share for share in named}
    cols: list[Col[Share]] = [
        arm_col(message("Runtime"), lambda share: share.row.runtime, view.looks, lambda share: of_row(share.row)),
        col(message("System"), lambda share: share.row.system),
        col(message("Setting"), lambda share: share.setting),
        col(message("Clients"), lambda share: message("native") if share.has_native_client else message("Python")),
        _rate_col(message("requests/s"), attrgetter("row")),
        _rate_col(message("limit, requests/s"), attrgetter("limit")),
        col(message("share [95 %]"), lambda share: share.share, hundredths, _both, "limit share"),
    ]
    shown = table(message("Shares of the machine's limit"), cols, [(NOTHING, shares)], folded=True)
    sentences = tuple(_sentence(share, view) for share in last.values())
    return Section(key="limit", title=TITLE, sentences=sentences, tables=(shown,), notes=(HOW,) if shares else ())


def _shares(view: View) -> Iterator[Share]:
    """Yield each Python row whose setting was measured natively too."""
    limits = {setting_key(row.system, row.params): row for row in view.rows if row.runtime == NATIVE and row.figures}
    names = dict.fromkeys([ALWAYS_NAMED, *varying(view.rows)])
    for row in view.rows:
        limit = limits.get(setting_key(row.system, row.params))
        if limit and row.runtime != NATIVE and row.figures and (share := rate_share(row, limit)):
            yield Share(row=row, limit=limit, share=share, setting=parameter_values(row.params, names))


def _rate_col(head: Message, row: Callable[[Share], Row]) -> Col[Share]:
    how = THROUGHPUT
    return col(head, lambda share: how.median(row(share)), how.form, lambda share: of_row(row(share)), how.figure)


def _both(share: Share) -> str:
    return of_rows([share.limit, share.row])


def _sentence(share: Share, view: View) -> Message:
    sentence = message(
        "{system} on {runtime}, called by {clients}, reaches {share} of the machine's limit at {setting}.",
        system=view.settings.number(share.row.system),
        runtime=share.row.runtime,
        clients=message("the native client") if share.has_native_client else message("Python clients"),
        share=estimate(share.share, hundredths),
        setting=share.setting,
    )
    return traced(sentence, _both(share), "limit share")
