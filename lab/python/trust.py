"""Decide whether a program may be executed: nobody except root and this user may be able to change
it.

The owner of gilscope's own files, such as an administrator who installed it, is trusted like root.

lab/python asks may_execute() about uv and interpreters. lab/environments, lab/native_builds.py and
lab/project ask may_use() about what lies in the cache folder. Both return the reason against a
program, so an empty message (NOTHING) means yes.
"""

import errno
import os
import pwd
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from core.messages import NOTHING, Message, message
from lab.places import CACHE
from lab.processes import output_of, scrubbed_environment

MOST_LINKS = 40  # the kernel's limit, see path_resolution(7)
_ROOT = 0  # the user id of root


def may_execute(path: Path) -> Message:
    """Return why a program must not be executed; NOTHING if it may be executed.

    The file, every folder above it and every link on the way must belong to root or to this user,
    and nobody else may write to them. A sticky folder such as /tmp is accepted, because others
    cannot replace our files in it.
    """
    try:
        for place in _path_steps(path.absolute()):
            if reason := _find_fault(place):
                return reason
    except OSError as error:
        return message(
            "{path} cannot be read: {reason}",
            path=str(error.filename or path),
            reason=error.strerror,
        )
    return NOTHING


def may_use(path: Path) -> Message:
    """Return why a program in the cache folder must not be executed; NOTHING if it, or another
    program, may be.

    If the program does not exist, the folder where it would be made is checked. Programs in a
    checkout are trusted like the code of gilscope that lies beside them.
    """
    if not path.is_relative_to(CACHE):
        return NOTHING
    while not os.path.lexists(path):
        path = path.parent
    return may_execute(path)


def trusted_output(command: Sequence[str], timeout_s: float) -> str | None:
    """Run the program at command[0] if may_execute() accepts it, and return its stdout; None if it
    fails or is refused.

    Nobody can replace the program after the check, because only root and this user can write to the
    folders above it.
    """
    if may_execute(Path(command[0])):
        return None
    return output_of(command, timeout_s, scrubbed_environment())


def _path_steps(path: Path, links: int = 0) -> Iterator[Path]:
    """Yield every folder and link from the root folder to *path*, and then the file.

    links: how many links have led to *path*
    """
    if links > MOST_LINKS:
        raise OSError(errno.ELOOP, "Too many links", str(path))
    for place in (*reversed(path.parents), path):
        yield place
        if place.is_symlink():
            target = place.parent / place.readlink() / path.relative_to(place)
            yield from _path_steps(target, links + 1)
            return


def _find_fault(place: Path) -> Message:
    """Return why a file or folder is not trusted; NOTHING if it is trusted."""
    status = place.lstat()
    if status.st_uid not in (_ROOT, os.geteuid(), os.stat(__file__).st_uid):
        owner = f"user {status.st_uid}"
        with suppress(KeyError):  # the user may have no name
            owner = pwd.getpwuid(status.st_uid).pw_name
        return message(
            "{path} belongs to {owner}, but it must belong to root or to you",
            path=place,
            owner=owner,
        )
    mode, gid = status.st_mode, status.st_gid
    # the permissions of a link have no effect; in a sticky folder, only owners replace their files
    if stat.S_ISLNK(mode) or (stat.S_ISDIR(mode) and mode & stat.S_ISVTX):
        return NOTHING
    # a user's private group has the user's number
    is_private = gid == _ROOT or gid == os.getegid() == os.geteuid()
    if mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not is_private):
        return message("other users can write to {path}", path=place)
    return NOTHING
