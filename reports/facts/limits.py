"""The machine's limit: what share of a native service's requests/s a Python service reaches. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.runtime import NATIVE
from reports.facts.cells import Row, setting_key
from reports.facts.settings import varying
from reports.facts.standings import rate_share
from reports.statistics.stats import Estimate

ALWAYS_NAMED = "CALC_TARGET"


@dataclass(frozen=True, kw_only=True)
class Share:
    """A row, and its share of the requests/s that the native service reaches at the same setting.

    names: the parameters that tell the setting: CALC_TARGET and whatever else varies
    """

    row: Row
    limit: Row
    share: Estimate
    names: tuple[str, ...]

    @property
    def has_native_client(self) -> bool:
        """Whether the native load generator calls the Python service, as it calls the limit."""
        return self.row.good[0].client_runtime == NATIVE


def shares(every: Sequence[Row]) -> list[Share]:
    """Each Python row whose setting was measured natively too."""
    limits = {setting_key(row.system, row.params): row for row in every if row.runtime == NATIVE and row.figures}
    names = tuple(dict.fromkeys([ALWAYS_NAMED, *varying(every)]))
    pairs = [(row, limits.get(setting_key(row.system, row.params))) for row in every if row.runtime != NATIVE]
    return [
        Share(row=row, limit=limit, share=share, names=names)
        for row, limit in pairs
        if limit and row.figures and (share := rate_share(row, limit))
    ]
