"""Every process of a run is killed or stopped, again and again, at random and in named windows.

The checker reads /proc, the run's folder and its exit status. A port has no holder when no process of the run is left.
"""

import os
import random
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGSTOP, SIGTERM, Signals
from time import monotonic
from typing import Any

import pytest

from lab.run.measured_runtimes import Runtime
from record.run_file import load
from tests.campaign import impatient
from tests.campaign.saved import cells_in
from tests.campaign.sizes import SEED, campaign_only
from tests.contract.runs import CLIENT, SERVICE, Run, calls, plan_flags, started, stop
from tests.tables import each_row

HISTORIES = range(SEED, SEED + 250)
BLOCKS = 5
CELL = {"NUM_API_SERVICES": 2, "NUM_REQUESTS_PER_CLIENT": 700, "CALC_TARGET": 0, "NUM_WORKERS_PER_API_SERVICE": 2}
ENDS_WITHIN_S = 180.0
RUNNER = "runner"
LINES = {"service": SERVICE, "client": CLIENT, "reaper": "reaper.py", "guard": "guard.py"}
CHILDREN, OURS = ("service", "client"), (RUNNER, "reaper", "guard")
ENDINGS = (0, 1, 2, -SIGKILL, -SIGTERM, -SIGHUP, -SIGINT, 128 + SIGINT, 128 + SIGTERM, 128 + SIGHUP)


@dataclass(frozen=True, kw_only=True)
class Strike:
    """One signal: to whom, and when. A runner that is stopped goes on soon, or is killed as it stands."""

    target: str
    window: str
    signal: Signals
    then: Signals = SIGCONT

    @property
    def may_end_the_run(self) -> bool:
        """Whether what was planned need not be measured after it."""
        stops = self.signal == SIGSTOP
        return self.target == "guard" or (self.then == SIGKILL if stops else self.target == RUNNER)


def hits(strikes: Sequence[Strike], *targets: str, number: Signals | None = None) -> int:
    """How many strikes hit *targets*, with that signal or any."""
    return sum(one.target in targets and number in (None, one.signal) for one in strikes)


def history(seed: int) -> list[Strike]:
    """Strikes at services and clients, mostly one at a process that is ours, and often one while the report is made."""
    chance = random.Random(seed)
    numbers = chance.choices((SIGKILL, SIGTERM, SIGHUP, SIGINT, SIGSTOP), (8, 2, 2, 2, 1), k=chance.randint(2, 4))
    strikes = []
    for number in numbers:
        window = chance.choice(("starting", "timed", "any"))
        strikes.append(Strike(target=chance.choice(CHILDREN), window=window, signal=number))
    target = chance.choice((*OURS, RUNNER, None))
    if target:
        window = chance.choice(("any", "before the first cell", "starting", "timed", "saving", "between cells"))
        number = chance.choice((SIGKILL, SIGKILL, SIGSTOP, SIGTERM, SIGHUP, SIGINT))
        window = "any" if target == "guard" else window
        ours = Strike(target=target, window=window, signal=number, then=chance.choice((SIGCONT, SIGKILL)))
        strikes.insert(0 if target == "guard" or window == "before the first cell" else len(strikes), ours)
    if chance.random() < 0.7:
        strikes.append(Strike(target=RUNNER, window="reporting", signal=chance.choice((SIGKILL, SIGTERM, SIGINT))))
    return strikes


def saves(out: Path) -> bool:
    """Whether a file is being written there, which is soon over: looked for without a pause."""
    until = monotonic() + 0.5
    while monotonic() < until:
        if any(name.startswith(".gilscope-") for name in (os.listdir(out) if out.exists() else ())):
            return True
    return False


def windows(out: Path, chance: random.Random) -> dict[str, Callable[[dict[int, str]], bool]]:
    """When a strike comes: asked, again and again, with the children that are there."""
    at_s, before = monotonic() + chance.uniform(0.0, 0.6), len(cells_in(out))
    return {
        "any": lambda children: monotonic() >= at_s,
        "before the first cell": lambda children: monotonic() >= at_s or bool(cells_in(out)),
        "starting": lambda children: any(SERVICE in line for line in children.values()) and not calls(children),
        "timed": calls,
        "saving": lambda children: saves(out),
        "between cells": lambda children: len(cells_in(out)) > before,
        "reporting": lambda children: len(cells_in(out)) == BLOCKS,
    }


def play(strike: Strike, run: Run, out: Path, chance: random.Random) -> list[Any] | None:
    """Wait for the window and the target, and strike. The cells that were saved then; None if the run ends before."""
    is_open, cells = windows(out, chance)[strike.window], None
    with suppress(AssertionError, ProcessLookupError, FileNotFoundError):  # it has ended; the target has
        for _ in run.turns(f"{strike}", ENDS_WITHIN_S):
            children = run.children()
            targets = [pid for pid, line in children.items() if LINES.get(strike.target, "-") in line]
            targets = [run.process.pid] if strike.target == RUNNER else targets
            if strike.target == "guard" and any(SERVICE in line for line in children.values()):
                break  # they guard what finds interpreters
            if targets and is_open(children):
                before, pid = cells_in(out), chance.choice(targets)
                stop(pid) if strike.signal == SIGSTOP else os.kill(pid, strike.signal)
                cells = before
                if strike.target in OURS and strike.signal == SIGSTOP:
                    signal.sigtimedwait([], chance.uniform(0.0, 0.3))
                    if strike.target == RUNNER or strike.then == SIGKILL:
                        os.kill(run.process.pid, strike.then)
                break
    return cells


def check_end(run: Run, out: Path, strikes: Sequence[Strike], saved: list[Any]) -> None:
    """What holds however a run ended. saved: the cells that were there at the last of the strikes"""
    status = run.status(ENDS_WITHIN_S)
    both_killed = hits(strikes, "reaper", number=SIGKILL) and hits(strikes, RUNNER, number=SIGKILL)
    may_stay = (str(run.temporary), str(out / ".gilscope-")) if both_killed else "nothing"  # decision 010
    assert [one for one in run.leftovers(out) if not one.startswith(may_stay)] == []
    assert status in ENDINGS
    assert "bug in gilscope" not in run.complained()
    cells = cells_in(out)
    assert cells[: len(saved)] == saved
    assert not cells or len(load(out).cells) == len(cells)
    failed = [cell["reason"] for cell in cells if cell["status"] != "ok"]
    assert len(failed) <= hits(strikes, *CHILDREN), failed
    if status == 0:
        assert (len(cells), failed) == (BLOCKS, [])
    is_unready = not cells and hits(strikes, "reaper")  # the reaper was killed before there was anything to do
    if not is_unready and not any(strike.may_end_the_run for strike in strikes):
        assert (status, len(cells)) == (1 if failed else 0, BLOCKS)


def flags_of(runtime: Runtime, out: Path, **params: str) -> list[str]:
    """Flags of a run of BLOCKS cells that saves to *out*."""
    return [*plan_flags(runtime, **CELL, **params), "--blocks", str(BLOCKS), "--quiet", "--out", str(out)]


def strike_all(strikes: Sequence[Strike], runtime: Runtime, folder: Path, seed: int) -> None:
    """Play the strikes on a run, and check how it ends."""
    chance, out = random.Random(seed), folder / "out"
    struck: list[Strike] = []
    saved: list[Any] = []
    flags = flags_of(runtime, out, TRANSPORT=chance.choice(("unix", "tcp")))
    with started(flags, folder, script=Path(impatient.__file__)) as run:
        try:
            for strike in strikes:
                cells = play(strike, run, out, chance)
                if cells is not None:
                    struck.append(strike)
                    saved = cells
            check_end(run, out, struck, saved)
        except BaseException as failure:
            failure.add_note(f"seed {seed}: {struck} of {strikes}; {run.complained()}")
            raise


@campaign_only
@pytest.mark.parametrize("seed", HISTORIES)
def test_a_kill_costs_one_cell_at_most_and_leaves_nothing(any_runtime: Runtime, short_folder: Path, seed: int) -> None:
    strike_all(history(seed), any_runtime, short_folder, seed)


@campaign_only
@each_row
@pytest.mark.parametrize("target", LINES)
def test_a_process_that_is_stopped_for_ever_ends_with_its_run(
    target: str, window: str, any_runtime: Runtime, short_folder: Path
) -> None:
    strike_all([Strike(target=target, window=window, signal=SIGSTOP)], any_runtime, short_folder, SEED)
