"""The same contestants with idle cores as they are, and held awake: where their order is one of wake-ups. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from reports.facts.cells import Row, setting_key
from reports.facts.standings import Contest, Standing, rate_share

KEEP_AWAKE = "KEEP_AWAKE"
Awake: TypeAlias = Mapping[tuple[str, tuple[str, str]], Row]


def asleep_and_awake(rows: Sequence[Row]) -> tuple[list[Row], Awake]:
    """The rows whose cores were left as they are, and by key the same held awake; in another run all, and none."""
    asleep = [row for row in rows if not row.params.get(KEEP_AWAKE)]
    if not asleep:
        return list(rows), {}
    return asleep, {_key(row): row for row in rows if row.params.get(KEEP_AWAKE)}


def twin(row: Row, awake: Awake) -> Row | None:
    """The same row with its cores held awake."""
    return awake.get(_key(row))


def _key(row: Row) -> tuple[str, tuple[str, str]]:
    return row.runtime, setting_key(row.system, {name: row.params[name] for name in row.params if name != KEEP_AWAKE})


def overtaking(contest: Contest, awake: Awake) -> list[tuple[Standing, list[Standing]]]:
    """Who serves more than whom with cores awake, and less with cores as they are, by all blocks or the interval."""
    twins = {id(standing): twin(standing.row, awake) for standing in contest.standings}
    changes = [
        (standing, [other for other in contest.standings if _overtakes(standing, other, twins)])
        for standing in contest.standings
    ]
    return [(standing, others) for standing, others in changes if others]


def _overtakes(standing: Standing, other: Standing, twins: Mapping[int, Row | None]) -> bool:
    awake, other_awake = twins[id(standing)], twins[id(other)]
    if awake is None or other_awake is None:
        return False
    return _is_faster(other.row, standing.row) and _is_faster(awake, other_awake)


def _is_faster(row: Row, base: Row) -> bool:
    share = rate_share(row, base)
    return share is not None and share.low > 1


def fastest(rows: Iterable[Row | None]) -> Row | None:
    """The one with most requests/s; None without any."""
    return max((row for row in rows if row and row.figures), key=_rate, default=None)


def _rate(row: Row) -> float:
    return row.figures["requests_per_s"] if row.figures else 0.0
