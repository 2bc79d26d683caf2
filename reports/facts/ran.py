"""How many processes of a user's service served clients, and with how many threads each, as counted. Pure."""

from collections.abc import Sequence
from statistics import median_low

from core.messages import Message, message
from core.result import CellResult

Shape = tuple[int, int]  # processes, threads of each


def shape_text(shape: Shape) -> str:
    """Return '2 x 4': processes x threads."""
    return f"{shape[0]} x {shape[1]}"


def ran(cells: Sequence[CellResult]) -> Shape | None:
    """Return the medians over *cells*; None if no cell was counted."""
    counted = [
        served for cell in cells if (served := [one for each in cell.services for one in each.get("workers", ())])
    ]
    if not counted:
        return None
    return median_low(map(len, counted)), median_low(one["threads"] for served in counted for one in served)


def loop_share(cells: Sequence[CellResult]) -> tuple[int, float]:
    """Return the most event loops of a process, and the share of its connections that one had, at the median."""
    loops = [
        one["loops"] for cell in cells for each in cell.services for one in each.get("workers", ()) if one["loops"]
    ]
    most = max(map(len, loops), default=0)
    shares = [max(of_one) / sum(of_one) for of_one in loops if len(of_one) == most]
    return most, median_low(shares) if shares else 0.0


def differ(one: Shape, other: Shape) -> bool:
    """Return whether they are of another number of processes, or one has more than twice the threads."""
    return one[0] != other[0] or max(one[1], other[1]) > 2 * min(one[1], other[1])


def shape_confounds(arms: tuple[str, str], cells: tuple[Sequence[CellResult], Sequence[CellResult]]) -> list[Message]:
    """Return that the two arms of a comparison did not run as the same shape, if they did not."""
    one, other = map(ran, cells)
    if one is None or other is None or not differ(one, other):
        return []
    return [
        message(
            "{denominator} ran as {one} and {numerator} as {other} (processes x threads)",
            denominator=arms[0], numerator=arms[1], one=shape_text(one), other=shape_text(other),
        )
    ]  # fmt: skip
