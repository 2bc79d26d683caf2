"""Where things are: all in the checkout; of an installation, which may be read-only, in the user's cache folder.

NATIVE_BUILDS is where native programs and extensions are built, SHIPPED_PROGRAMS what came with an installation.
"""

from core.program import INSTALLED, ROOT
from core.version import VERSION

REPOSITORY = ROOT
NATIVE_SOURCES = REPOSITORY / "native"
SHIPPED_PROGRAMS = NATIVE_SOURCES / "bin"

if INSTALLED:
    from platformdirs import user_cache_path

    ENVIRONMENTS = user_cache_path("gilscope") / "environments"
    NATIVE_BUILDS = user_cache_path("gilscope") / f"native-{VERSION}"
else:
    ENVIRONMENTS = (REPOSITORY / ".runtimes").resolve()  # on a host, a link to the cache folder
    NATIVE_BUILDS = NATIVE_SOURCES
