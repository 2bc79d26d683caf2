"""Paths of gilscope's files.

An installed gilscope writes to the user's cache folder, because the folder of the installation may
be read-only.

REPOSITORY: the folder of gilscope's packages, in a checkout or installed; children start in it
NATIVE_SOURCES: sources of native programs and extensions
CACHE: this user's cache folder for gilscope
ENVIRONMENTS: virtual environments that gilscope makes; also copies of a user's commits, and
    requirements files
NATIVE_BUILDS: where native programs and extensions are built: in a checkout, beside their sources
SHIPPED_PROGRAMS: native programs that came with the installation

All of lab/ takes its paths from here. Nothing is made here: who writes to a folder makes it.
"""

import os
from pathlib import Path

from core.program import INSTALLED, ROOT, VERSION

REPOSITORY = ROOT
NATIVE_SOURCES = REPOSITORY / "native"
SHIPPED_PROGRAMS = NATIVE_SOURCES / "bin"

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "gilscope").expanduser().absolute()

if INSTALLED:
    ENVIRONMENTS = CACHE / "environments"
    NATIVE_BUILDS = CACHE / f"native-{VERSION}"
else:
    ENVIRONMENTS = (
        REPOSITORY / ".runtimes"
    ).resolve()  # on a remote host this is a link to the cache folder
    NATIVE_BUILDS = NATIVE_SOURCES
