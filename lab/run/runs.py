"""Runs and their folders: starts a run, resumes a run, locks its folder, and finds its systems'
titles.

commands/running.py calls this before and after a run is measured, and the commands that report runs
call titles(). A Run (record/saved_run.py) is the content of result.json, which record/run_file.py
reads and writes. lab/run/experiment.py measures.
"""

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from config.run_plan import Plan
from config.user_service.service_options import masked_arguments
from core.files import BESIDE, is_there
from core.messages import SEMICOLON, BadInput, Message, listed
from core.program import RUNS
from core.secret import Redactor, secrets_in
from lab.folders import Sandbox, lock_folder
from lab.machine import host, quiet
from lab.places import REPOSITORY
from lab.project.commits import COMMIT_DIGITS, git
from lab.run.cell_places import CellPlaces
from lab.run.fingerprints import Fingerprinter
from lab.run.measured_runtimes import Runtimes
from record.decode import decoded
from record.run_file import RunFile, load
from record.saved_plan import Machine
from record.saved_run import FILE_NAME, PLOTS, Run
from systems import built_in

QUIET_WINDOW_S = 0.3  # how long the machine is observed before a run
CHANGED = "+changes"  # the end of a commit's name if files differ from it
LONGEST_GIT_S = 5.0  # then the commit is unknown


class Order(NamedTuple):
    """An instruction to carry out a plan: what to measure, and where to save the results.

    runtimes: the installed runtimes of the plan and of its clients, by name
    folder: where the run is saved
    profiles: kinds of profiles to take after the blocks
    places: for a run across hosts, where children run
    """

    plan: Plan
    runtimes: Runtimes
    folder: Path
    profiles: tuple[str, ...] = ()
    places: CellPlaces | None = None


def new_run(
    order: Order,
    seed: int | None,
    command: Sequence[str],
    missing: Mapping[str, Message],
    **facts: Any,
) -> Run:
    """Return a new run that has no results yet. The caller checks that its folder holds no run.

    This observes the machine for QUIET_WINDOW_S, and writes nothing.
    seed: decides the order of the cells; None for a random seed
    command: the command line of gilscope, of which secrets are masked
    missing: why runtimes of the plan were not found, by their names
    facts: more facts about the machine, such as those about the `hosts` of a run across hosts
    """
    return Run(
        run_id=order.folder.name,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=secrets.randbelow(2**32) if seed is None else seed,
        command=masked_arguments(
            command, Redactor(one.reveal() for one in secrets_in(order.plan.user_service))
        ),
        plan=order.plan.saved(),
        machine=decoded(
            {**host.facts(), "commit": commit(), "quiet": quiet.facts(QUIET_WINDOW_S), **facts},
            Machine,
        ),
        runtimes={name: runtime.facts() for name, runtime in order.runtimes.items()},
        missing=dict(missing),
        folder=str(order.folder),
    )


def expect_no_run(folder: Path) -> None:
    """Raise BadInput if *folder* holds a run."""
    if is_there(folder / FILE_NAME):
        raise BadInput(
            "{folder} already holds a run. Name another folder with --out, or continue the run "
            "with --resume {folder}.",
            folder=folder,
        )


def run_folder(plan: Plan) -> Path:
    """Return the path of a new run's folder, whose name has the time and the plan's name."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return RUNS / f"{stamp}-{plan.name}-{secrets.token_hex(2)}"


def titles(*runs: Run) -> dict[str, str]:
    """Return the systems' titles by number or name: those of built-in systems, and of systems that
    *runs* used.
    """
    titles = {system.key: str(system.title) for system in built_in()}
    for run in runs:
        titles |= {name: system.title for name, system in run.plan.outside.items()}
    return titles


def note_time(folder: Path, run: Run, what: str, spent_ns: int) -> None:
    """Add *spent_ns* to the time that *run* has spent on *what*, and save the run."""
    run.spent_ns[what] = run.spent_ns.get(what, 0) + spent_ns
    RunFile(folder).save(run)


def count_unmeasured(run: Run) -> int:
    """Return how many planned measurements *run* lacks. With --until, only rounds (blocks) that it
    began count. Return 0 if the run halved its settings (--budget).
    """
    saved = run.plan
    if saved.halves_settings:
        return 0  # settings that were dropped are measured no more
    absent: dict[tuple[str, str], Message] = {
        (one.system, one.runtime): one.reason for one in saved.absent
    }
    entries = replace(Plan.from_saved(saved), absent=absent).entries()
    blocks = max((cell.block for cell in run.cells), default=1) if saved.until else saved.blocks
    planned = {
        (entry.arm, entry.cell.cell_id, block)
        for entry in entries
        for block in range(1, blocks + 1)
    }
    return len(planned - {(cell.arm, cell.cell_id, cell.block) for cell in run.cells})


def load_to_resume(folder: Path) -> Run:
    """Load the run in *folder* to continue it. Raises BadInput if it was measured on another
    machine.
    """
    run = load(folder)
    here = host.facts()
    for name in ("cpu", "cores"):
        there = getattr(run.machine, name)
        if there != here[name]:
            raise BadInput(
                "{folder} was measured on a machine with {name} {there}, but this machine has "
                "{here}. A run can only continue on the machine where it began. Start a new run.",
                folder=folder,
                name=name,
                there=there,
                here=here[name],
            )
    return run


def check_unchanged(run: Run, order: Order) -> None:
    """Raise BadInput with a list of changes if code, packages, interpreters or programs changed
    since *run*.
    """
    changes = Fingerprinter(order.plan, order.runtimes, run.fingerprints).changes(run)
    if changes:
        raise BadInput(
            "Something changed since the measurements in {folder}: {changes}. Undo the change, "
            "start a new run, or continue with --accept-changes. The report then marks the "
            "measurements before and after the change, and gives no verdict across the change.",
            folder=order.folder,
            changes=listed(changes, SEMICOLON),
        )


# ---- the folder of a run -------------------------------------------------------------------------


def leftovers(folder: Path) -> list[Path]:
    """Return the paths that must be removed if a process is killed while it writes to *folder*.

    These are partly written files, and the folder itself if it does not exist yet.
    """
    return [folder / BESIDE, folder / PLOTS / BESIDE, *([] if folder.exists() else [folder])]


@contextmanager
def run_lock(folder: Path) -> Iterator[Sandbox]:
    """Lock *folder* in the `with` block, so that only this process writes result.json. Makes the
    folder if needed.

    Yields the sandbox. It is made before the folder, because its reaper removes partial files of a
    killed process.
    Raises BadInput if the folder cannot be written, or if another process has
    locked it.
    """
    with Sandbox(leftovers(folder)) as sandbox:
        try:
            lock = lock_folder(folder, wait=False)
        except OSError as error:
            raise BadInput(
                "{path} cannot be written: {error}. Name another folder with --out.",
                path=folder,
                error=error.strerror,
            ) from error
        if lock is None:
            raise BadInput(
                "Another process is writing to {folder}. Wait until it ends, or name another "
                "folder with --out.",
                folder=folder,
            )
        try:
            yield sandbox
        finally:
            with suppress(OSError):
                os.close(lock)


def expect_no_foreign_files(folder: Path, names: Iterable[str]) -> None:
    """Raise BadInput if *folder* holds no run, but has a file with one of *names*, which a run
    would overwrite.
    """
    if is_there(folder / FILE_NAME):
        return
    for name in names:
        if is_there(folder / name):
            raise BadInput(
                "{path} would be overwritten, but it belongs to no run: {folder} has no {result}. "
                "Name another folder.",
                path=folder / name,
                folder=folder,
                result=FILE_NAME,
            )


# ---- the version of gilscope ---------------------------------------------------------------------


def commit(folder: Path = REPOSITORY) -> str | None:
    """Return the commit of *folder*, 12 digits, with "+changes" if tracked files differ from the
    commit.

    Returns None if git is missing or *folder* is not the top of a working tree. An unpacked archive
    may lie inside of another project's tree.
    """
    if not (folder / ".git").exists():
        return None
    words = ("status", "--porcelain=v2", "--branch", "--untracked-files=no")
    with suppress(BadInput):
        # the head is such as "# branch.oid 48dfa81b..."
        head, *lines = git(folder, *words, longest_s=LONGEST_GIT_S).splitlines()
        digits = head.removeprefix("# branch.oid ")[:COMMIT_DIGITS]
        changes = any(not line.startswith("#") for line in lines)
        return (digits + CHANGED * changes) if digits.isalnum() else None
    return None
