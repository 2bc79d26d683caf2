"""Runs in their folders: where they are, how one begins and goes on, and what its systems are called."""

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

from config.plan import Plan
from config.user_service import service
from config.user_service.hidden import masked_arguments
from config.user_service.options import OPTIONS
from core.errors import BadInput
from core.files import BESIDE, is_there
from core.messages import NOTHING, SEMICOLON, Message, listed, message
from core.program import INSTALLED, PROGRAM, ROOT, RUNS_FOLDER
from core.redact import Redactor
from core.result import COMPARISONS, FILE_NAME, PLOTS, Run, RunFile, load
from core.saved import SavedPlan
from core.secret import secrets_in
from lab import locks
from lab.machine import host, quiet
from lab.places import REPOSITORY
from lab.processes import run as run_command
from lab.run.fingerprints import Fingerprinter
from lab.run.places import RemotePlaces
from lab.run.runtimes import AnyRuntime
from lab.run.sandbox import Sandbox
from systems import built_in

RUNS = Path(RUNS_FOLDER) if INSTALLED else ROOT / RUNS_FOLDER
QUIET_WINDOW_S = 0.3
LONGEST_COMMAND = 200
CHANGED = "+changes"
COMMIT_DIGITS = 12
LONGEST_GIT_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Order:
    """What to run: a plan, the runtimes that are present, where the run is saved; by what it is profiled besides.

    places, hosts: of a run across hosts, where children run, and what these are
    """

    plan: Plan
    runtimes: Mapping[str, AnyRuntime]
    folder: Path
    profiles: tuple[str, ...] = ()
    places: RemotePlaces | None = None
    hosts: Mapping[str, Any] = field(default_factory=dict)


def new_run(order: Order, seed: int | None, command: Sequence[str], missing: Mapping[str, Message]) -> Run:
    """A run that has not begun. Raises BadInput if its folder holds one already."""
    expect_no_run(order.folder)
    now = datetime.now(UTC)
    return Run(
        run_id=order.folder.name,
        started_at=now.isoformat(timespec="seconds"),
        seed=secrets.randbelow(2**32) if seed is None else seed,
        command=masked_arguments(
            command, OPTIONS, Redactor(one.reveal() for one in secrets_in(order.plan.user_service))
        ),
        plan=order.plan.to_json(),
        machine={**host.facts(), "commit": commit(), "quiet": quiet.facts(QUIET_WINDOW_S), **_hosts(order)},
        runtimes={name: runtime.to_json() for name, runtime in order.runtimes.items()},
        missing=dict(missing),
    )


def _hosts(order: Order) -> dict[str, Any]:
    return {"hosts": dict(order.hosts)} if order.hosts else {}


def expect_no_run(folder: Path) -> None:
    """Raises BadInput if *folder* holds a run."""
    if is_there(folder / FILE_NAME):
        raise BadInput(
            "{folder} holds a run already; name another folder with --out, or go on with --resume {folder}.",
            folder=str(folder),
        )


def run_folder(plan: Plan) -> Path:
    """A folder for a new run, whose name says when and what."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return RUNS / f"{stamp}-{plan.name}-{secrets.token_hex(2)}"


def titles(*runs: Run) -> dict[str, str]:
    """What reports call the systems, by number or name: those that are here, and those that *runs* had besides."""
    titles = {system.key: str(system.title) for system in built_in()}
    for plan in (SavedPlan.from_json(run.plan) for run in runs):
        titles |= {name: system.title for name, system in plan.outside.items()}
        titles |= {one.key: str(one.title) for one in (service.systems(plan.user_service) if plan.user_service else ())}
    return titles


def no_run_in(folder: str) -> Message:
    """That there is none yet, with the command that makes one."""
    return message(
        "There is no run in {folder} yet; make one with: {program} --experiment quick", folder=folder, program=PROGRAM
    )


def note_time(folder: Path, run: Run, what: str, spent_ns: int) -> None:
    """Add to the time that *run* has spent on *what*, and save it."""
    run.spent_ns[what] = run.spent_ns.get(what, 0) + spent_ns
    RunFile(folder).save(run)
    (folder / COMPARISONS).unlink(missing_ok=True)  # those that a report made meanwhile


def unmeasured(run: Run) -> int:
    """How many of the planned cells *run* does not hold. Where it ended early by the plan's `until`, of its blocks."""
    saved = SavedPlan.from_json(run.plan)
    absent = {(one.system, one.runtime): one.reason for one in saved.absent}
    entries = replace(Plan.from_json(run.plan), absent=absent).entries()
    blocks = max((cell.block for cell in run.cells), default=1) if saved.until else saved.blocks
    planned = {(entry.arm, entry.cell.cell_id, block) for entry in entries for block in range(1, blocks + 1)}
    return len(planned - {(cell.arm, cell.cell_id, cell.block) for cell in run.cells})


def resumed(folder: Path) -> Run:
    """The saved run in *folder*, to go on with. Raises BadInput if it is not one of this machine."""
    run = load(folder)
    here = host.facts()
    for name in ("cpu", "cores"):
        if run.machine.get(name) != here[name]:
            raise BadInput(
                "{folder} was measured on a machine with {name} {there}; this one has {here}. "
                "A run can only go on where it began; start a new one.",
                folder=str(folder),
                name=name,
                there=run.machine.get(name),
                here=here[name],
            )
    return run


def check_same_runtimes(run: Run, runtimes: Mapping[str, AnyRuntime]) -> None:
    """Raises BadInput if a runtime of *run* is gone or is another build now."""
    for name, stored in run.runtimes.items():
        here: dict[str, Any] = runtimes[name].to_json() if name in runtimes else {}
        for fact in ("version", "build"):
            if stored.get(fact) != here.get(fact):
                raise BadInput(
                    "The run was started with {name} {fact} {stored}, which is {here} now; "
                    "a run can only go on with the same interpreters. Reinstall that one, or start a new run.",
                    name=name,
                    fact=fact,
                    stored=repr(stored.get(fact)),
                    here=repr(here.get(fact)),
                )


def check_unchanged(run: Run, order: Order) -> None:
    """Raises BadInput, which names them, if code, packages, interpreters or programs are not as *run* had them."""
    changes = Fingerprinter(order.plan, order.runtimes, run.fingerprints).changes(run)
    if changes:
        raise BadInput(
            "The cells of {folder} were measured with something else than is here now: {changes}. Put it back, start a "
            "new run, or go on with --accept-changes: the page then says which cells are which, and draws no verdict "
            "across them.",
            folder=str(order.folder),
            changes=listed(changes, SEMICOLON),
        )


# ---- the folder of a run -----------------------------------------------------------------------------------------


def leftovers(folder: Path) -> list[Path]:
    """What a process that is killed while it writes into *folder* may leave: half-written files, and nothing in it."""
    return [folder / BESIDE, folder / PLOTS / BESIDE, *([] if folder.exists() else [folder])]


@contextmanager
def run_lock(folder: Path) -> Iterator[Sandbox]:
    """Hold *folder*, which is made if need be, so that only this process writes result.json there.

    The sandbox, whose reaper removes what would be left, is there before the folder is.
    Raises BadInput, which names the process that holds it already, and if the folder cannot be written.
    """
    with Sandbox(leftovers(folder)) as sandbox:
        lock = _taken(folder)
        try:
            yield sandbox
        finally:
            with suppress(OSError):
                os.close(lock)


def expect_ours(folder: Path, names: Iterable[str]) -> None:
    """Raises BadInput where *folder* is no run's and holds files of somebody else by *names* that a run writes."""
    if is_there(folder / FILE_NAME):
        return
    for name in names:
        if is_there(folder / name):
            raise BadInput(
                "{path} is not a run's: {folder} holds no {result}. It would be overwritten; name another folder.",
                path=str(folder / name),
                folder=str(folder),
                result=FILE_NAME,
            )


def _taken(folder: Path) -> int:
    try:
        lock = locks.acquire(folder, wait=False)
    except OSError as error:
        raise BadInput(
            "{path} cannot be written: {error}; name another folder with --out.", path=str(folder), error=error.strerror
        ) from error
    if lock is None:
        raise BadInput(
            "Another process measures into {folder}: {holder}. Wait until it ends, or name another folder (--out).",
            folder=str(folder),
            holder=_holder(folder),
        )
    return lock


def _holder(folder: Path) -> Message:
    """Who has locked it, as /proc knows it: the command is nowhere on disk, for it may hold secrets."""
    pid = locks.holder(folder)
    words = NOTHING
    with suppress(OSError):
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        shown = "".join(character for character in line if character.isprintable())[:LONGEST_COMMAND]
        words = message("pid {pid}, {command}", pid=pid, command=shown) if shown else NOTHING
    return words or (message("pid {pid}", pid=pid) if pid else message("which one is not known"))


# ---- the version of gilscope -------------------------------------------------------------------------------------


def commit(folder: Path = REPOSITORY) -> str | None:
    """The commit that *folder* is at, 12 digits, with "+changes" where tracked files differ from it.

    None where git is missing or *folder* is no working tree of its own: an unpacked archive may lie in another's.
    """
    lines = (_git(folder, "rev-parse", "--show-toplevel", "HEAD") or "").split("\n")
    if len(lines) != 2:
        return None
    top, digits = lines
    if Path(top).resolve() != folder.resolve():
        return None
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return digits[:COMMIT_DIGITS] + (CHANGED if changes else "")


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints, without taking its locks; None if it fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = run_command(
            ["git", "-C", str(folder), *arguments], LONGEST_GIT_S, {**environment, "GIT_OPTIONAL_LOCKS": "0"}
        )
    except (OSError, TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
