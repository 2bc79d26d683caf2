"""CPython's notice that an import has switched the GIL on. Source: Python/import.c, import_run_extension."""

import re

_NOTICE = re.compile(r"GIL\) has been enabled to load module '([^']+)'")


def switching_modules(text: str) -> list[str]:
    """The modules that notices in *text* name, each once."""
    return list(dict.fromkeys(_NOTICE.findall(text)))
