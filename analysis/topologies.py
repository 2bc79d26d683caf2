"""The numbers of processes and threads with which services ran, which may not be those that were
asked for.

They are in CellResult.services[].workers, which has an entry for each process of a service. If the
arms of a comparison differ, analysis/comparing.py lists it among the confounds.
"""

from collections.abc import Sequence
from statistics import median_low

from core.messages import Message, message
from record.saved_run import CellResult

FEWEST_BLOCKS = 2  # of each arm
Shape = tuple[int, int]  # number of processes, and threads per process


def shape_text(shape: Shape) -> str:
    """Return processes and threads as text: '2 x 4' for 2 processes of 4 threads each."""
    return f"{shape[0]} x {shape[1]}"


def measured_shape(cells: Sequence[CellResult]) -> Shape | None:
    """Return the median numbers of processes and of threads per process that *cells* had.

    None if they are unknown, or if they differ between *cells*, as with a service that starts a
    thread per connection.
    """
    processes, threads = [], []
    for cell in cells:
        of_cell = [worker.threads for service in cell.services for worker in service.workers]
        if of_cell:
            processes.append(len(of_cell))
            threads.append(median_low(of_cell))
    if not threads or differ((min(processes), min(threads)), (max(processes), max(threads))):
        return None
    return median_low(processes), median_low(threads)


def differ(one: Shape, other: Shape) -> bool:
    """Return whether two services differ in processes, or one has over twice the other's threads
    per process.
    """
    return one[0] != other[0] or max(one[1], other[1]) > 2 * min(one[1], other[1])


def shape_confounds(
    arms: tuple[str, str], cells: tuple[Sequence[CellResult], Sequence[CellResult]]
) -> list[Message]:
    """Return a list with one confound if the arms had different numbers of processes or threads,
    else [].

    One block does not show whether the numbers vary within an arm.
    """
    one, other = map(measured_shape, cells)
    if (
        min(map(len, cells)) < FEWEST_BLOCKS
        or one is None
        or other is None
        or not differ(one, other)
    ):
        return []
    return [
        message(
            "{denominator} ran with {one} and {numerator} with {other} (processes x threads)",
            denominator=arms[0], numerator=arms[1], one=shape_text(one), other=shape_text(other),
        )
    ]  # fmt: skip
