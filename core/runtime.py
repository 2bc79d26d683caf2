"""A runtime is an interpreter and its GIL mode: its name, what the name promises, and what a process reports."""

import re
import sys
import sysconfig
from dataclasses import dataclass
from typing import Any

from core.errors import BadInput
from core.messages import message

_NAME = re.compile(r"(?P<version>3\.[0-9]{1,2})(?P<free_threaded>t?)(?P<forced>\+gil)?")
OLDEST_MINOR = 11
OLDEST_FREE_THREADED_MINOR = 13
NATIVE = "native"
ACCEPTED_NAMES = message("3.11, 3.14, 3.14t, 3.14t+gil or another 3.N, 3.Nt, 3.Nt+gil, and native")


@dataclass(frozen=True, kw_only=True)
class RuntimeName:
    """A runtime's name taken apart: '3.14t+gil' is the free-threaded 3.14 with the GIL switched on.

    'native' is not an interpreter: native programs are both service and client. It has no version and no GIL.
    """

    version: str
    free_threaded: bool
    gil_forced: bool

    @classmethod
    def parse(cls, text: str) -> "RuntimeName":
        """Raises BadInput for a name of another form, or for `+gil` on a default build."""
        if text == NATIVE:
            return cls(version="", free_threaded=False, gil_forced=False)
        match = _NAME.fullmatch(text)
        if match is None:
            raise BadInput(
                "Runtime {name!r} is not a runtime's name; accepted are {names}.", name=text, names=ACCEPTED_NAMES
            )
        name = cls(
            version=match["version"],
            free_threaded=bool(match["free_threaded"]),
            gil_forced=bool(match["forced"]),
        )
        minor = int(match["version"].removeprefix("3."))
        if minor < OLDEST_MINOR or (name.free_threaded and minor < OLDEST_FREE_THREADED_MINOR):
            raise BadInput(
                "Runtime {name!r} is too old; accepted are 3.{oldest} and later, "
                "free-threaded 3.{oldest_free_threaded}t and later.",
                name=text,
                oldest=OLDEST_MINOR,
                oldest_free_threaded=OLDEST_FREE_THREADED_MINOR,
            )
        if name.gil_forced and not name.free_threaded:
            raise BadInput(
                "Runtime {name!r}: only a free-threaded build can switch its GIL on; accepted are {names}.",
                name=text,
                names=ACCEPTED_NAMES,
            )
        return name

    @property
    def native(self) -> bool:
        """Whether it is `native`, not an interpreter."""
        return not self.version

    @property
    def interpreter(self) -> str:
        """Name of the binary without its GIL mode: what `uv python find` and PATH know it by."""
        return NATIVE if self.native else self.version + ("t" if self.free_threaded else "")

    @property
    def options(self) -> tuple[str, ...]:
        """Interpreter options that set the GIL mode."""
        return ("-X", "gil=1") if self.gil_forced else ()

    @property
    def gil_enabled(self) -> bool:
        """Whether the name promises a GIL."""
        return not self.native and (not self.free_threaded or self.gil_forced)

    def __str__(self) -> str:
        return self.interpreter + ("+gil" if self.gil_forced else "")


def gil_enabled() -> bool:
    """Whether this process has its GIL on now. Source: sys._is_gil_enabled (3.13 and later)."""
    probe = getattr(sys, "_is_gil_enabled", None)
    return True if probe is None else bool(probe())


def _runs_from_a_shared_library() -> bool:
    """Whether the interpreter's code is in libpython, not in the executable, which makes calls slower.

    Py_ENABLE_SHARED says only that the library was built too, so where there is /proc this process's own
    map decides.
    """
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return any("/libpython3" in line for line in maps)
    except OSError:
        return bool(sysconfig.get_config_var("Py_ENABLE_SHARED") or sysconfig.get_config_var("PYTHONFRAMEWORK"))


def facts() -> dict[str, Any]:
    """What this interpreter is: version, build, GIL state, compiler and build flags.

    build is `sys.version` after the number; flags are read from the configure and compiler options
    that sysconfig keeps. Source: docs.python.org, sysconfig.get_config_vars.
    """
    options = str(sysconfig.get_config_var("CONFIG_ARGS") or "")
    compiler_flags = str(sysconfig.get_config_var("PY_CORE_CFLAGS") or sysconfig.get_config_var("CFLAGS") or "")
    number, _, build = sys.version.partition(" ")
    return {
        "implementation": sys.implementation.name,
        "version": number,
        "build": " ".join(build.split()),
        "compiler": sys.version[sys.version.find("[") + 1 : -1] if "[" in sys.version else "",
        "gil_disabled_build": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "gil_enabled": gil_enabled(),
        "flags": {
            "pgo": "--enable-optimizations" in options or "-fprofile" in compiler_flags,
            "lto": "--with-lto" in options or "-flto" in compiler_flags,
            "shared": _runs_from_a_shared_library(),
            "debug": bool(sysconfig.get_config_var("Py_DEBUG")),
            "tail_call": "--with-tail-call-interp" in options,
            "jit": "--enable-experimental-jit" in options,
            "configure": options,
        },
    }
