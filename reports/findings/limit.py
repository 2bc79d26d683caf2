"""The machine's limit: what share of a native service's requests/s a Python service reaches. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.result import Run
from core.runtime import NATIVE
from reports.rows.arrangement import shown, varying
from reports.rows.standings import rate_share, share_text
from reports.rows.summary import Row, rows, setting_key
from reports.statistics.stats import Estimate
from reports.words.markdown import markdown_table

ALWAYS_SAID = "CALC_TARGET"


@dataclass(frozen=True, kw_only=True)
class Share:
    """A row, and its share of the requests/s that the native service reaches at the same setting."""

    row: Row
    limit: Row
    share: Estimate
    names: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """System 4 on 3.14t, called by Python clients, reaches 0.31 [0.30, 0.32] of the machine's limit at ..."""
        where = f" at {self.setting}" if self.setting else ""
        clients = "the native client" if self.clients == NATIVE else f"{self.clients} clients"
        return (
            f"System {self.row.system} on {self.row.runtime}, called by {clients}, reaches {share_text(self.share)} "
            f"of the machine's limit{where}."
        )

    @property
    def clients(self) -> str:
        """What calls the Python service: `native`, as the limit is called, or `Python`."""
        return NATIVE if self.row.good[0].client_runtime == NATIVE else "Python"

    @property
    def setting(self) -> str:
        """CALC_TARGET and whatever else varies, with their values."""
        return ", ".join(f"{name} {value}" for name, value in shown(self.row, self.names).items())


def shares(every: Sequence[Row]) -> list[Share]:
    """Each Python row whose setting was measured natively too."""
    limits = {setting_key(row.system, row.params): row for row in every if row.runtime == NATIVE and row.figures}
    names = tuple(dict.fromkeys([ALWAYS_SAID, *varying(every)]))
    found = []
    for row in every:
        limit = limits.get(setting_key(row.system, row.params))
        share = rate_share(row, limit) if limit and row.figures and row.runtime != NATIVE else None
        if limit and share:
            found.append(Share(row=row, limit=limit, share=share, names=names))
    return found


def sentences(run: Run) -> list[str]:
    """One for each system and setting, of its last runtime in the plan's order, and how the limit was measured."""
    named = [one for one in shares(rows(run)) if one.row.runtime in run.runtimes]
    last = {setting_key(one.row.system, one.row.params): one for one in named}
    return [*(one.sentence for one in last.values()), *([HOW] if last else [])]


def markdown(run: Run) -> str:
    """Every row's share; empty where nothing was measured natively."""
    found = shares(rows(run))
    if not found:
        return ""
    heads = ("system", "setting", "runtime", "clients", "requests/s", "limit, requests/s", "share [95 %]")
    lines = [
        [
            *(one.row.system, one.setting, one.row.runtime, one.clients),
            *(_rate(one.row), _rate(one.limit), share_text(one.share)),
        ]
        for one in found
    ]
    return "\n".join(["", "## The machine's limit", "", markdown_table(heads, lines, {*heads[4:]}), "", f"- {HOW}"])


def _rate(row: Row) -> str:
    return f"{row.figures.requests_per_s:,.0f}" if row.figures else "-"


HOW = (
    "The machine's limit is the same protocol and the same count in Rust, called by the native load generator. "
    "Python clients take CPU time from the service: with --client-runtime native every service is called by that "
    "generator, and the share is the service's alone."
)
