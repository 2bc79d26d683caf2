"""The archive of gilscope's own files that an agent needs.

lab/hosts/connection.py sends it to each host, and lab/hosts/boot.py unpacks it there. Whatever the
agent, the worker and the children of a host import must be in FOLDERS.
"""

import os
from functools import cache
from pathlib import Path

from lab import native_builds
from lab.digests import files_in
from lab.places import REPOSITORY
from lab.user_service.service_files import packed

FOLDERS = ("core", "services", "clients", "systems", "experiments", "record", "lab", "requirements")
# code, and files of requirements
SUFFIXES = (".py", ".txt")
# core.program recognises a checkout by this file; the agent's files look like a checkout
CHECKOUT = "pyproject.toml"


@cache
def agent(*, native: bool) -> bytes:
    """Return an archive of the files that an agent needs. Raises OSError if one cannot be read.
    It is made once per process, so it lacks later changes of the files.

    native: include native programs, for a host of this architecture
    """
    sources = [Path(path) for folder in FOLDERS for path in files_in(REPOSITORY / folder, SUFFIXES)]
    files = [(path.relative_to(REPOSITORY).as_posix(), path) for path in sources]
    built = [name for name in native_builds.FOR_HOSTS if native and not native_builds.missing(name)]
    files += [(f"native/bin/{name}", native_builds.BUILDS[name].program) for name in built]
    return packed([(CHECKOUT, Path(os.devnull)), *files])  # an empty file is enough
