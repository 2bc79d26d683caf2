"""Check out the commits of a user's repository that variants of a service name. The work tree stays
as it is.

A run asks with_commits() before it looks for runtimes (commands/chosen.py), and commands/project.py
asks check_out() for the packages of a variant. Each commit has a copy beside the environments. It
never changes, and is removed like them if it is not used (lab/environments/environment.py,
make_folder).
"""

import os
import subprocess
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from config.run_plan import Plan
from core.messages import BadInput, verbatim
from core.user_service import Command
from lab.digests import short_digest
from lab.environments.environment import make_folder
from lab.places import ENVIRONMENTS
from lab.processes import run
from lab.python.trust import may_use

LONGEST_GIT_S = 300.0  # of one command of git
COMMIT_DIGITS = 12  # of a commit's hexadecimal number, in the names of folders and in texts
SUBMODULE = "160000 "  # the mode of a submodule. Source: git-ls-tree(1), git-fast-import(1)
INDEX = ".gilscope-index"  # git's index of the copy; removed before the copy is ready


def with_commits(plan: Plan) -> Plan:
    """Copy the commits that variants name, if there is no copy. Return *plan* with the folder of
    its commit in each of these variants.

    Raises BadInput, also if two variants have the same commit and settings.
    """
    service = plan.user_service
    if not service or not any(command.ref for command in service.commands):
        return plan
    variants = {name: _at_commit(command) for name, command in service.variants.items()}
    for (one, first), (other, second) in combinations(variants.items(), 2):
        if first.plain == second.plain:
            raise BadInput(
                "The variants {one} and {other} are the same commit, {commit}. Name two commits.",
                one=one,
                other=other,
                commit=first.ref[:COMMIT_DIGITS],
            )
    return plan.with_service(replace(service, variants=variants))


def _at_commit(command: Command) -> Command:
    """Return the command in the folder of its commit, if it names one. A relative requirements file
    is that of the commit.
    """
    if not command.ref:
        return command
    commit, folder = check_out(Path(command.repository), command.ref)
    file = command.requirements
    if file and not Path(file).is_absolute():
        file = str(folder / file)
        if not Path(file).is_file():
            raise BadInput(
                "{ref} has no file {file}. Give this variant its own requirements.",
                ref=command.ref,
                file=command.requirements,
            )
    return replace(command, ref=commit, directory=str(folder), requirements=file)


def check_out(folder: Path, ref: str) -> tuple[str, Path]:
    """Return the commit that *ref* names in the repository of *folder*, and the same folder in a
    copy of it. The copy lies beside the environments, and is made if it does not exist.
    Raises BadInput.
    """
    top = Path(git(folder, "rev-parse", "--show-toplevel").strip())
    named = f"{ref}^{{commit}}"
    commit = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", named).strip()
    for line in git(top, "ls-tree", "-r", commit).splitlines():
        if line.startswith(SUBMODULE):
            raise BadInput(
                "{ref} has the submodule {path}, which a copy of the commit would lack. Check "
                "the commit out yourself, and give its folder as the value of directory.",
                ref=ref,
                path=line.partition("\t")[2],
            )
    place = ENVIRONMENTS / f"commit-{commit[:COMMIT_DIGITS]}-{short_digest(str(top))}"
    if reason := may_use(place):
        raise BadInput("{reason}. Set HOME and XDG_CACHE_HOME to your own folders.", reason=reason)
    try:
        make_folder(place, lambda new: _copy(top, commit, new))
    except OSError as error:
        raise BadInput(
            "The commit {ref} could not be copied to {folder}: {error}. Free some disk space, or "
            "give write access to this folder.",
            ref=ref,
            folder=ENVIRONMENTS,
            error=error.strerror or str(error),
        ) from None
    below = folder.resolve().relative_to(top)
    if not (place / below).is_dir():
        raise BadInput(
            "{ref} has no folder {folder}. Name another commit, or another directory.",
            ref=ref,
            folder=below,
        )
    return commit, place / below


def _copy(top: Path, commit: str, new: Path) -> None:
    """Write the files of *commit* to the folder *new*. The repository's own index is not used."""
    new.mkdir()
    index = new / INDEX
    git(top, "read-tree", commit, GIT_INDEX_FILE=str(index))
    git(top, "checkout-index", "--all", f"--prefix={new}/", GIT_INDEX_FILE=str(index))
    index.unlink()


def git(folder: Path, *arguments: str, longest_s: float = LONGEST_GIT_S, **variables: str) -> str:
    """Return what git prints, without the user's GIT_* variables, but with *variables*. It takes no
    locks. Raises BadInput with the first line of its error, or if it takes longer than *longest_s*.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    kept |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", **variables}
    try:
        done = run(["git", "-C", folder, *arguments], longest_s, kept)
    except OSError as error:
        raise BadInput(
            "git cannot be started: {error}. Install git.", error=error.strerror
        ) from None
    except subprocess.TimeoutExpired:
        raise BadInput(
            "git did not end within {seconds:.0f} s in the repository of {folder}. Check the "
            "repository and its disk.",
            seconds=longest_s,
            folder=folder,
        ) from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        if not said:  # of rev-parse --quiet
            raise BadInput(
                "{ref} is no commit, branch or tag of the repository of {folder}. Name one.",
                ref=arguments[-1].removesuffix("^{commit}"),
                folder=folder,
            )
        raise BadInput(
            "git cannot read the repository of {folder}: {error}. For a variant with a ref, "
            "use a repository with files that you may read.",
            folder=folder,
            error=verbatim(said[0].removeprefix("fatal: ")),
        )
    return done.stdout
