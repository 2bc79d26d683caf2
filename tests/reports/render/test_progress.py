"""How far a run has come: plain lines where nobody looks on, one live line on a terminal, and the time that is left."""

import io
import itertools
import re
import sys
import threading
from dataclasses import replace
from math import inf
from time import monotonic

import pytest
from rich.console import Console

from record.child_lines import Turns
from record.saved_run import CellResult
from reports.render import progress
from reports.render.console import terminal
from reports.render.progress import LiveDisplay, PlainDisplay, QuietDisplay, cell_line, display, time_left
from tests.reports.sample import MS, cell_of, faulty, idle, measured

CELL = cell_of("4", "3.14t", {"NUM_API_SERVICES": 2, "NUM_CLIENTS": 5, "NUM_REQUESTS_PER_CLIENT": 1000})
REASON = "Service 2 of 4 (3.14t, pid 812) [red] exited with status 1"


class Terminal(io.StringIO):
    """A file that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def ok() -> CellResult:
    """10 000 requests in 2 s."""
    return replace(measured(CELL, 3, [1999 * MS]), wall_ns=2000 * MS)


def failed() -> CellResult:
    return faulty(CELL, 1, "failed", REASON)


def test_a_plain_display_is_not_silent_while_a_measurement_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENT_S", 0.02)
    out = io.StringIO()

    def shows(text: str) -> bool:
        until_s = monotonic() + 30.0
        while text not in out.getvalue() and monotonic() < until_s:
            threading.Event().wait(0.01)
        return text in out.getvalue()

    with PlainDisplay(terminal(out)) as shown:
        assert shows("starting the programs beside the service: 0 s\n")
        shown.cell_started(CELL, 1, 0, 2)
        assert shows("[0/2] still measuring: 0 s\n")
        shown.cell_ended(ok(), 1, 2)
    assert "requests/s" in out.getvalue()


DESIGNS = [cell_of("4", "3.14t", {"DISPATCH": name, "NUM_MULTI_SOCKET": 1}) for name in ("auto", "any")]


def test_cells_of_one_system_are_told_apart_by_what_differs() -> None:
    out = io.StringIO()
    with PlainDisplay(terminal(out), cells=[*DESIGNS, cell_of("2", "3.14t", {"DISPATCH": "any"})]) as shown:
        for design in DESIGNS:
            shown.cell_ended(measured(design, 1, [MS]), 1, 2)
        shown.cell_ended(faulty(DESIGNS[0], 2, "failed", REASON), 2, 2)
    assert re.findall("DISPATCH ([a-z]+)", out.getvalue()) == ["auto", "any", "auto"]
    assert "NUM_MULTI_SOCKET" not in out.getvalue()


def test_where_nobody_looks_on_there_is_one_line_a_cell_when_it_has_ended() -> None:
    out = io.StringIO()
    with PlainDisplay(terminal(out), clock=itertools.count(0.0, 10.0).__next__) as shown:
        for done, result in enumerate((failed(), ok(), idle(ok())), 1):
            shown.cell_started(CELL, 1, done - 1, 12)
            shown.cell_ended(result, done, 12)
    assert out.getvalue().splitlines() == [
        f"[ 1/12] block 1  system 4  3.14t     failed: {REASON}  cells not ok: 1",
        "[ 2/12] block 3  system 4  3.14t        2.000 s     5,000 requests/s  2 min left  cells not ok: 1",
        "[ 3/12] block 3  system 4  3.14t     idle: no clients  2 min left  cells not ok: 1",
    ]


def test_a_probe_shows_the_rate_that_it_sends() -> None:
    probe = cell_of("4", "3.14t", {"NUM_CLIENTS": 2, "RATE": 2600})
    assert str(cell_line(replace(measured(probe, 3, [1999 * MS]), wall_ns=2000 * MS))).endswith(
        "2.000 s    20,000 requests/s at a planned 5,200"
    )


@pytest.mark.parametrize("width", [80, 120])
def test_a_live_line_is_one_line_however_wide_the_terminal(width: int) -> None:
    out = Terminal()
    console = Console(file=out, force_terminal=True, width=width, color_system=None)
    with LiveDisplay(console) as display:
        for done, result in enumerate((ok(), failed(), ok()), 1):
            display.cell_started(CELL, 2, done - 1, 3)
            display.cell_ended(result, done, 3)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue())
    assert all(part in shown for part in ("block 2, system", "3/3", "5,000/s", "0 s left", REASON[:40]))
    bars = [line for line in re.split(r"[\r\n]", shown) if "/3" in line]
    assert all(len(line) <= width and "\u2026" not in line for line in bars)


def test_quiet_means_only_what_is_not_ok() -> None:
    out = io.StringIO()
    with QuietDisplay(terminal(out)) as shown:
        for result in (ok(), failed(), ok()):
            shown.cell_ended(result, 1, 3)
    assert out.getvalue() == f"{cell_line(failed())}\n"


def test_the_display_suits_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(display(), PlainDisplay)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert (type(display()), type(display(quiet=True))) == (LiveDisplay, QuietDisplay)


def test_cells_that_were_measured_before_a_run_goes_on_do_not_count_as_fast() -> None:
    shown = QuietDisplay(terminal(io.StringIO()), clock=iter([0, 6, 6]).__next__)
    shown.cell_started(CELL, 1, 90, 100)
    assert not shown.left()
    shown.cell_started(CELL, 1, 91, 100)
    assert str(shown.left()) == "54 s left"
    assert str(time_left(11_100)) == "3 h 05 min left"


def test_the_time_left_is_that_of_the_latest_block_or_of_the_present_one_if_that_takes_longer() -> None:
    """It does not jump when measurements that alternate in slices end together."""
    clock = [0.0]
    shown = QuietDisplay(terminal(io.StringIO()), clock=lambda: clock[0])
    seen = []
    for block, seconds in enumerate((12.0, 12.0, 60.0, 60.0)):  # 3 measurements end together
        shown.cell_started(CELL, block + 1, 3 * block, 18)
        seen.append(str(shown.left()))
        clock[0] += seconds
        seen.append(str(shown.left()))
        for done in range(1, 4):
            shown.cell_ended(ok(), 3 * block + done, 18)
            seen.append(str(shown.left()))
    # 5 and 4 blocks of 12 s; then 3 and 2 blocks of 60 s are left, which the display knew only afterwards
    assert seen == [
        *[""] * 5,
        *("60 s left", "48 s left", *["48 s left"] * 3),
        *("48 s left", "3 min left", *["3 min left"] * 3),
        *("3 min left", "2 min left", *["2 min left"] * 3),
    ]


def test_a_line_says_that_measurements_take_longer_because_requests_do() -> None:
    out = io.StringIO()
    with PlainDisplay(terminal(out)) as shown:
        shown.timed_s = 1.0
        for done, length in enumerate((1000, 7478, 7478), 1):
            turns = Turns(slices=2, length_ns=length * MS // 2)
            shown.cell_ended(replace(ok(), turns=turns), done, 4)
        shown.cell_ended(replace(ok(), turns=Turns(slices=1, length_ns=99_000 * MS), probe="scan"), 4, 4)
    said = "Requests take so long that each measurement is timed for 7.5 s instead of 1.0 s."
    assert [line for line in out.getvalue().splitlines() if "instead of" in line] == [said]


@pytest.mark.parametrize(("limit_s", "left"), [(180.0, "at most 80 s left"), (inf, "")])
def test_a_run_with_a_limit_or_without_an_end_has_no_total(limit_s: float, left: str) -> None:
    shown = QuietDisplay(terminal(io.StringIO()), limit_s=limit_s, clock=iter([0.0, 100.0]).__next__)
    shown.cell_started(CELL, 1, 0, 40_000)
    assert str(shown.left()) == left
    assert str(shown.place()) == "cells done: 0"
