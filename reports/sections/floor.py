"""The floor: how many times the CPU time that cannot go each service takes."""

from collections.abc import Sequence

from core.messages import NOTHING, Message, message
from reports.document.model import Column, Datum, Section, arm, estimate, estimated, number, traced, words
from reports.document.values import hundredths, microseconds
from reports.rows.floor import Floor, floors
from reports.rows.summary import as_message
from reports.rows.traces import of_rows
from reports.sections.contest import Of, table_of
from reports.view import View

PLACE = 92
HOW = message(
    "The floor of a service is the CPU time of the same answers in a loop, without sockets, under its runtime, and "
    "that of the native service, which carries requests with hardly anything else. Both were measured in this run, the "
    "loop once, before the first block; intervals are of the services alone."
)
PART = message("Where the native service was not measured, the floor is the answers alone.")


def section(view: View) -> Section:
    """A line for each row; the least and the most of them in words."""
    every = floors(view.run, view.rows)
    unmeasured = tuple(
        message("{runtime}: the floor was not measured. {reason}", runtime=floor["runtime"], reason=reason)
        for floor in view.run.floors
        if (reason := as_message(floor.get("reason", "")))
    )
    sentences = (*((_range(every, view),) if every else ()), *unmeasured)
    return Section(
        key="floor",
        title=message("The floor"),
        sentences=sentences,
        tables=(table_of(message("CPU time over the floor"), _columns(view), [(NOTHING, every)], folded=True),),
        notes=(HOW, *[PART] * any(floor.native is None for floor in every)) if every else (),
    )


def _range(every: Sequence[Floor], view: View) -> Message:
    ends = sorted(every, key=lambda floor: floor.times.value)
    least, most = ends[0], ends[-1]
    return message(
        "Services take {low} ({low_where}) to {high} ({high_where}) times the CPU time of the floor: {floor}.",
        low=_times(least), low_where=_where(least, view), high=_times(most), high_where=_where(most, view),
        floor=message("their answers in a loop, and the native service")
        if all(floor.native for floor in every)
        else message("their answers in a loop"),
    )  # fmt: skip


def _times(floor: Floor) -> Message:
    return traced(estimate(floor.times, hundredths), _cells(floor), "floor")


def _where(floor: Floor, view: View) -> Message:
    return view.settings.where(floor.row.system, floor.row.params, floor.row.runtime)


def _columns(view: View) -> list[Of[Floor]]:
    def us(head: Message, name: str) -> Of[Floor]:
        column = Column(head=head, is_number=True)
        return column, lambda floor: number(getattr(floor, name), microseconds, _cells(floor))

    def runtime(floor: Floor) -> Datum:
        return arm(floor.row.runtime, view.looks[floor.row.runtime], _cells(floor))

    return [
        (Column(head=message("Runtime")), runtime),
        (Column(head=message("Setting")), lambda floor: words(view.settings.short(floor.row.system, floor.row.params))),
        us(message("service [us]"), "service_ns"),
        us(message("answers alone [us]"), "answer_ns"),
        us(message("native service [us]"), "native_ns"),
        (
            Column(head=message("times the floor [95 %]"), is_number=True),
            lambda floor: estimated(floor.times, hundredths, _cells(floor), "floor"),
        ),
    ]


def _cells(floor: Floor) -> str:
    return of_rows([floor.native, floor.row] if floor.native else [floor.row])
