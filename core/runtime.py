"""A runtime is an interpreter with its GIL and JIT on or off: its name, what that promises, what a process reports."""

import re
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.errors import BadInput
from core.messages import Message, message

_NAME = re.compile(
    r"(?P<version>3\.[0-9]{1,2})(\.(?P<patch>[0-9]{1,3}((a|b|rc)[0-9]{1,2})?))?(?P<free_threaded>t?)(?P<suffixes>(\+[a-z]+)*)"
)
OLDEST_MINOR = 11
OLDEST_FREE_THREADED_MINOR = 13
NATIVE = "native"
GIL, JIT = "gil", "jit"
ACCEPTED_NAMES = message(
    "3.11, 3.14, 3.14t, 3.14t+gil, 3.14+jit or another 3.N, 3.Nt, 3.Nt+gil, 3.N+jit; a patch release of one, such as "
    "3.14.6 or 3.14.6t; and native"
)


@dataclass(frozen=True, kw_only=True)
class Switch:
    """What a suffix of a runtime's name switches on, for which an interpreter reads an environment variable.

    unset: the variable's value under a runtime without the suffix; "" leaves it unset
    free_threaded: of which build it is a choice; refusal: why it is none of the other
    """

    variable: str
    unset: str = ""
    free_threaded: bool
    oldest_minor: int
    refusal: Message


SWITCHES = {
    GIL: Switch(
        variable="PYTHON_GIL",
        free_threaded=True,
        oldest_minor=OLDEST_FREE_THREADED_MINOR,
        refusal=message("only a free-threaded build can switch its GIL on"),
    ),
    JIT: Switch(
        variable="PYTHON_JIT",
        unset="0",
        free_threaded=False,
        oldest_minor=14,
        refusal=message("a free-threaded build has no JIT"),
    ),
}


@dataclass(frozen=True, kw_only=True)
class RuntimeName:
    """A runtime's name taken apart: '3.14.6t+gil' is the free-threaded 3.14.6 with the GIL switched on.

    version:  '3.14', which decides the feature release
    patch:    '6' or '0rc1' of a name that asks for one patch release; "" accepts the newest one that is installed
    suffixes: of SWITCHES, in their order
    'native' is not an interpreter: native programs are both service and client. It has no version and no GIL.
    """

    version: str
    free_threaded: bool
    suffixes: tuple[str, ...] = ()
    patch: str = ""

    @classmethod
    def parse(cls, text: str) -> "RuntimeName":
        """Raises BadInput for a name of another form, or for a suffix that the build does not have."""
        if text == NATIVE:
            return cls(version="", free_threaded=False)
        match = _NAME.fullmatch(text)
        suffixes = match["suffixes"].split("+")[1:] if match else []
        if match is None or len({*suffixes} & {*SWITCHES}) < len(suffixes):
            raise BadInput(
                "Runtime {name!r} is not a runtime's name; accepted are {names}.", name=text, names=ACCEPTED_NAMES
            )
        name = cls(
            version=match["version"],
            free_threaded=bool(match["free_threaded"]),
            suffixes=tuple(suffix for suffix in SWITCHES if suffix in suffixes),
            patch=match["patch"] or "",
        )
        name._expect_age(text)
        for suffix in name.suffixes:
            if SWITCHES[suffix].free_threaded is not name.free_threaded:
                raise BadInput(
                    "Runtime {name!r}: {refusal}; accepted are {names}.",
                    name=text,
                    refusal=SWITCHES[suffix].refusal,
                    names=ACCEPTED_NAMES,
                )
        return name

    def _expect_age(self, text: str) -> None:
        oldest = [OLDEST_FREE_THREADED_MINOR if self.free_threaded else OLDEST_MINOR]
        oldest += [SWITCHES[suffix].oldest_minor for suffix in self.suffixes]
        if self.minor < max(oldest):
            raise BadInput(
                "Runtime {name!r} is too old; accepted are 3.{oldest} and later, "
                "free-threaded 3.{oldest_free_threaded}t and later, with a JIT 3.{oldest_jit}+jit and later.",
                name=text,
                oldest=OLDEST_MINOR,
                oldest_free_threaded=OLDEST_FREE_THREADED_MINOR,
                oldest_jit=SWITCHES[JIT].oldest_minor,
            )

    @property
    def native(self) -> bool:
        """Whether it is `native`, not an interpreter."""
        return not self.version

    @property
    def minor(self) -> int:
        """14 of 3.14."""
        return int(self.version.removeprefix("3."))

    @property
    def series(self) -> str:
        """Return the feature release and build, such as 3.14t, without a patch release."""
        return replace(self, patch="").interpreter

    @property
    def release(self) -> tuple[int, str, int]:
        """Return the sort key of the patch release; a preview comes before the release."""
        match = re.match(r"(\d+)(?:(a|b|rc)(\d+))?", self.patch)
        return (int(match[1]), match[2] or "release", int(match[3] or 0)) if match else (-1, "", 0)

    @property
    def interpreter(self) -> str:
        """Return the name by which `uv python find` and PATH know the interpreter: version and build."""
        patch = f".{self.patch}" if self.patch else ""
        return NATIVE if self.native else f"{self.version}{patch}{'t' * self.free_threaded}"

    def of_release(self, version: str) -> "RuntimeName":
        """Return the name with the patch release of *version*, which an interpreter reported: '3.14.6' gives '6'."""
        patch = version.removeprefix(f"{self.version}.")
        return self if patch == version else replace(self, patch=patch)

    @property
    def binary(self) -> str:
        """The interpreter, and whether it must have a JIT built in: no variable can switch on what is not there."""
        return self.interpreter + f"+{JIT}" * self.jit_enabled

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that make a process of the interpreter what the name says."""
        if self.native:
            return {}
        return {
            switch.variable: value
            for name, switch in SWITCHES.items()
            if (value := "1" if name in self.suffixes else switch.unset)
        }

    @property
    def promises(self) -> dict[str, bool]:
        """What its processes' states() must be."""
        return {"gil_enabled": self.gil_enabled, "jit_enabled": self.jit_enabled}

    @property
    def gil_forced(self) -> bool:
        """Whether the GIL of a free-threaded build is switched on."""
        return GIL in self.suffixes

    @property
    def gil_enabled(self) -> bool:
        """Whether the name promises a GIL."""
        return not self.native and (not self.free_threaded or self.gil_forced)

    @property
    def jit_enabled(self) -> bool:
        """Whether the name promises a JIT."""
        return JIT in self.suffixes

    def __str__(self) -> str:
        return self.interpreter + "".join(f"+{suffix}" for suffix in self.suffixes)


def gil_enabled() -> bool:
    """Whether this process has its GIL on now. Source: sys._is_gil_enabled (3.13 and later)."""
    probe = getattr(sys, "_is_gil_enabled", None)
    return True if probe is None else bool(probe())


def jit_enabled() -> bool:
    """Whether this process compiles at run time. Source: sys._jit (3.14 and later)."""
    jit = getattr(sys, "_jit", None)
    return jit is not None and bool(jit.is_enabled())


STATES: dict[str, Callable[[], bool]] = {"gil_enabled": gil_enabled, "jit_enabled": jit_enabled}


def states() -> dict[str, bool]:
    """What this process is, of all that a runtime's name promises."""
    return {name: state() for name, state in STATES.items()}


def ready_and_end(ready: Mapping[str, Any], end: Mapping[str, Any]) -> dict[str, Any]:
    """The states of a child when it was ready and at its end, as its result has them: `gil_enabled_ready`, ..."""
    return {f"{name}_{when}": found[name] for when, found in (("ready", ready), ("end", end)) for name in STATES}


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
    """What this interpreter is: version, build, GIL and JIT, compiler and build flags.

    build is `sys.version` after the number; flags are read from the configure and compiler options
    that sysconfig keeps. Source: docs.python.org, sysconfig.get_config_vars.
    """
    options = str(sysconfig.get_config_var("CONFIG_ARGS") or "")
    compiler_flags = str(sysconfig.get_config_var("PY_CORE_CFLAGS") or sysconfig.get_config_var("CFLAGS") or "")
    number, _, build = sys.version.partition(" ")
    jit = getattr(sys, "_jit", None)
    return {
        "implementation": sys.implementation.name,
        "version": number,
        "build": " ".join(build.split()),
        "compiler": sys.version[sys.version.find("[") + 1 : -1] if "[" in sys.version else "",
        "gil_disabled_build": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        **states(),
        "flags": {
            "pgo": "--enable-optimizations" in options or "-fprofile" in compiler_flags,
            "lto": "--with-lto" in options or "-flto" in compiler_flags,
            "shared": _runs_from_a_shared_library(),
            "debug": bool(sysconfig.get_config_var("Py_DEBUG")),
            "tail_call": "--with-tail-call-interp" in options,
            "jit": jit.is_available() if jit else "--enable-experimental-jit" in options,
            "configure": options,
        },
    }
