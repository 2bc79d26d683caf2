"""Paths of gilscope's files.

An installed gilscope writes to the user's cache folder, because the folder of the installation may be read-only.

ENVIRONMENTS: virtual environments that gilscope makes
NATIVE_BUILDS: where native programs and extensions are built
SHIPPED_PROGRAMS: native programs that came with the installation
"""

from core.program import INSTALLED, ROOT, VERSION

REPOSITORY = ROOT
NATIVE_SOURCES = REPOSITORY / "native"
SHIPPED_PROGRAMS = NATIVE_SOURCES / "bin"

if INSTALLED:
    from platformdirs import user_cache_path

    ENVIRONMENTS = user_cache_path("gilscope") / "environments"
    NATIVE_BUILDS = user_cache_path("gilscope") / f"native-{VERSION}"
else:
    ENVIRONMENTS = (REPOSITORY / ".runtimes").resolve()  # on a remote host this is a link to the cache folder
    NATIVE_BUILDS = NATIVE_SOURCES
