"""Find CPython's warnings in a service's output: unsafe threading, and imports that switched the GIL on."""

import re

MOST_NOTICES = 20
LONGEST_NOTICE = 300
_SWITCHED_ON = re.compile(r"GIL\) has been enabled to load module '([^']+)'")  # Python/import.c, import_run_extension
_THREADS = re.compile(  # texts from Objects/dictobject.c, setobject.c, listobject.c and Modules/_collectionsmodule.c
    r"changed size during iteration|keys changed during iteration|mutated during iteration"
    r"|modified during sort|generator already executing|reentrant call inside"
    r"|objects created in a thread can only be used in that same thread"
    r"|Warning:.*\b(not thread[- ]safe|thread[- ]unsafe|thread[- ]safety)\b",
    re.IGNORECASE,
)


def switching_modules(text: str) -> list[str]:
    """Return the modules that switched the GIL on according to CPython's warnings in *text*, without duplicates."""
    return list(dict.fromkeys(_SWITCHED_ON.findall(text)))


def notices(text: str) -> list[str]:
    """Return the lines of *text* that report unsafe threading or a GIL that was switched on, without duplicates."""
    lines = (line.strip()[:LONGEST_NOTICE] for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if _SWITCHED_ON.search(line) or _THREADS.search(line)))[
        :MOST_NOTICES
    ]
