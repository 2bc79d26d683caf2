"""Histories of several runners on one folder, by seed: what they leave is read from files alone."""

import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from lab.run.measured_runtimes import Runtime
from tests.campaign.saved import cells_in
from tests.campaign.sizes import SEED, size
from tests.contract.runs import RUNNER, SERVICE, Run, finished, plan_flags, runtime_flags, started

HISTORIES = range(SEED, SEED + size(1, 60))
BLOCKS = 3


@pytest.mark.parametrize("seed", HISTORIES)
def test_a_saved_cell_never_vanishes_changes_or_doubles(any_runtime: Runtime, short_folder: Path, seed: int) -> None:
    chance, out = random.Random(seed), short_folder / "out"
    flags = [*plan_flags(any_runtime), "--blocks", str(BLOCKS), "--quiet", "--out", str(out)]
    resume = ["--resume", str(out), "--quiet", *runtime_flags(any_runtime)[2:]]
    play([flags] * chance.randint(2, 3), short_folder / "start", chance)
    seen = cells_in(out)
    for number in range(chance.randint(1, 2)):
        others = [["report", str(out), "--quiet"]] if seen else []
        play([*[resume] * 2, *others], short_folder / f"resume{number}", chance)
        before, seen = seen, cells_in(out)
        assert seen[: len(before)] == before
    has_begun = (out / "result.json").exists()  # perhaps with no cell yet
    (short_folder / "last").mkdir()
    last = finished(resume if has_begun else flags, short_folder / "last")
    assert (last.status(), last.complained()) == (0, "")
    cells = cells_in(out)
    assert cells[: len(seen)] == seen
    assert sorted(cell["block"] for cell in cells) == list(range(1, BLOCKS + 1))
    assert not list(out.glob(".*"))


@contextmanager
def together(
    commands: Sequence[Sequence[str]], folder: Path, chance: random.Random, script: Path = RUNNER
) -> Iterator[tuple[list[Run], Run | None]]:
    """All of *commands* at once, each from a folder of its own, and the one that shall be struck, if any."""
    with ExitStack() as stack:
        runs = []
        for number, command in enumerate(commands):
            home = folder / str(number)
            home.mkdir(parents=True)
            runs.append(stack.enter_context(started(command, home, script=script)))
        yield runs, chance.choice([None, *runs])


def play(commands: list[list[str]], folder: Path, chance: random.Random) -> None:
    """Start all of *commands* at once, perhaps kill one, and wait for all."""
    with together(commands, folder, chance) as (runs, victim):
        if victim is not None:
            if chance.random() < 0.7:  # when a service of it is there, if one is before it ends
                with suppress(AssertionError):  # it has ended: it was refused
                    victim.wait_for(SERVICE)
            victim.process.kill()
        for run in runs:
            status = run.status()
            assert status in ((-9, 0, 2) if run is victim else (0, 2)), run.complained()
            assert "bug in gilscope" not in run.complained()
            if status == 2:
                refused = ("Another process is writing to", "already holds a run", "cannot be read")
                assert any(words in run.complained() for words in refused), run.complained()
