"""Whether the JIT of a user's service is on: its Python processes said so when they began (core/inside/jit.py)."""

import re
from collections.abc import Sequence
from typing import Any

from lab.run.children import Child
from lab.run.inside import Inside
from lab.run.runtimes import AnyRuntime, UserServiceRuntime

PART = "jit"
_WRITTEN = re.compile(rb"(?P<version>[0-9a-z.+]{1,40}) (?P<enabled>[01])")
MOST_BYTES = 64


def parts(runtime: AnyRuntime) -> dict[str, dict[str, Any]]:
    """What a service needs inside for that: nothing where it says so itself, or its interpreter has no JIT."""
    own = runtime.runtime if isinstance(runtime, UserServiceRuntime) else None
    return {PART: {}} if own and own.interpreter.has_jit else {}


def enabled(runtime: AnyRuntime, insides: Sequence[Inside]) -> list[bool]:
    """Of each of a user's services; as promised where it is not known. Processes of other interpreters do not count."""
    if not isinstance(runtime, UserServiceRuntime) or runtime.runtime is None:
        return []
    promised, version = runtime.name.jit_enabled, runtime.runtime.version
    return [promised if _states(inside, version) <= {promised} else not promised for inside in insides]


def add(services: Sequence[Child], ready: Sequence[bool], end: Sequence[bool]) -> None:
    """Put what enabled() said at both times into the results of services."""
    for service, *states in zip(services, ready, end, strict=False):
        service.result |= dict(zip(("jit_enabled_ready", "jit_enabled_end"), states, strict=True))


def _states(inside: Inside, version: str) -> set[bool]:
    written = filter(None, map(_WRITTEN.fullmatch, inside.files(PART, MOST_BYTES).values()))
    return {match["enabled"] == b"1" for match in written if match["version"].decode() == version}
