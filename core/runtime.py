"""Runtimes: an interpreter with its GIL and JIT on or off. Parse runtime names, and read the state
of this process.

RuntimeName is what a plan names, and facts() and states() are what a child finds in itself when it
is ready and at its end; lab/run compares them. Measured processes import this module, and
lab/python runs facts() in each interpreter that it finds. A new suffix is a row of SWITCHES.
"""

import re
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.messages import BadInput, Json, Message, message

_NAME = re.compile(
    r"(?P<version>3\.[0-9]{1,2})(\.(?P<patch>[0-9]{1,3}((a|b|rc)[0-9]{1,2})?))?(?P<free_threaded>t?)(?P<suffixes>(\+[a-z]+)*)"
)
OLDEST_MINOR = 11  # of 3.N, for default builds
OLDEST_FREE_THREADED_MINOR = 13  # of 3.Nt
NATIVE = "native"  # the runtime of programs without an interpreter
GIL, JIT = "gil", "jit"  # suffixes of names, as in 3.14t+gil
ACCEPTED_NAMES = message(
    "3.N, 3.Nt, 3.Nt+gil or 3.N+jit, such as 3.11, 3.14, 3.14t, 3.14t+gil or 3.14+jit; a patch "
    "release, such as 3.14.6 or 3.14.6t; and native"
)


class Switch(NamedTuple):
    """A suffix of a runtime's name, and the environment variable that it sets for the interpreter.

    free_threaded: whether the suffix is for the free-threaded build or for the default build
    refusal: why the other build does not support the suffix
    unset: the variable's value under a runtime without the suffix; "" leaves the variable unset
    """

    variable: str
    free_threaded: bool
    oldest_minor: int
    refusal: Message
    unset: str = ""


SWITCHES = {
    GIL: Switch(
        variable="PYTHON_GIL",
        free_threaded=True,
        oldest_minor=OLDEST_FREE_THREADED_MINOR,
        refusal=message("+gil needs a free-threaded build"),
    ),
    JIT: Switch(
        variable="PYTHON_JIT",
        unset="0",
        free_threaded=False,
        oldest_minor=14,
        refusal=message("+jit needs a default build, because a free-threaded build has no JIT"),
    ),
}


class RuntimeName(str):
    """A parsed runtime name: '3.14.6t+gil' is the free-threaded build of 3.14.6 with the GIL
    switched on.

    The name is its own text, so that it is a key of mappings, and a string in JSON.

    version:  the feature release, such as '3.14'
    patch:    '6' or '0rc1' if the name asks for one patch release; "" accepts the newest installed
              patch release
    suffixes: keys of SWITCHES, in their order
    The name 'native' has no version and no GIL: services and clients are native programs.
    """

    __slots__ = ("free_threaded", "patch", "suffixes", "version")
    version: str
    free_threaded: bool
    suffixes: tuple[str, ...]
    patch: str

    def __new__(cls, text: str) -> "RuntimeName":
        """Parse a runtime's name. Raises BadInput for an unknown form, or a suffix that the build
        does not support.
        """
        if isinstance(text, cls):
            return text
        if text == NATIVE:
            return cls.of("")
        match = _NAME.fullmatch(text)
        suffixes = match["suffixes"].split("+")[1:] if match else []
        if match is None or len({*suffixes} & {*SWITCHES}) < len(suffixes):
            raise BadInput(
                "Runtime {name!r} is not a valid name. Accepted names: {names}.",
                name=text,
                names=ACCEPTED_NAMES,
            )
        name = cls.of(
            match["version"],
            free_threaded=bool(match["free_threaded"]),
            suffixes=tuple(suffix for suffix in SWITCHES if suffix in suffixes),
            patch=match["patch"] or "",
        )
        name._expect_age(text)
        for suffix in name.suffixes:
            if SWITCHES[suffix].free_threaded is not name.free_threaded:
                raise BadInput(
                    "Runtime {name!r} does not exist: {refusal}. Accepted names: {names}.",
                    name=text,
                    refusal=SWITCHES[suffix].refusal,
                    names=ACCEPTED_NAMES,
                )
        return name

    @classmethod
    def of(
        cls,
        version: str,
        *,
        free_threaded: bool = False,
        suffixes: tuple[str, ...] = (),
        patch: str = "",
    ) -> "RuntimeName":
        """Return the name of the runtime with this version, build, suffixes and patch release. They
        are not checked.
        """
        release = f"{version}.{patch}".rstrip(".") + "t" * free_threaded
        name = str.__new__(cls, "+".join((release, *suffixes)) or NATIVE)
        name.version, name.patch = version, patch
        name.free_threaded, name.suffixes = free_threaded, suffixes
        return name

    def _expect_age(self, text: str) -> None:
        oldest = [OLDEST_FREE_THREADED_MINOR if self.free_threaded else OLDEST_MINOR]
        oldest += [SWITCHES[suffix].oldest_minor for suffix in self.suffixes]
        if self.minor < max(oldest):
            raise BadInput(
                "Runtime {name!r} is too old. Use 3.{oldest} or later; "
                "free-threaded: 3.{oldest_free_threaded}t or later; with a JIT: 3.{oldest_jit}+jit "
                "or later.",
                name=text,
                oldest=OLDEST_MINOR,
                oldest_free_threaded=OLDEST_FREE_THREADED_MINOR,
                oldest_jit=SWITCHES[JIT].oldest_minor,
            )

    @property
    def native(self) -> bool:
        """Return whether the runtime is `native` and not an interpreter."""
        return not self.version

    @property
    def minor(self) -> int:
        """Return the minor version number, such as 14 for 3.14."""
        return int(self.version.removeprefix("3."))

    def having(self, **parts: Any) -> "RuntimeName":
        """Return a copy of the runtime's name with new *parts*: version, free_threaded, suffixes or
        patch.
        """
        own = {name: getattr(self, name) for name in self.__slots__}
        return RuntimeName.of(**own | parts)

    @property
    def series(self) -> "RuntimeName":
        """Return the feature release and build, such as 3.14t, without a patch release."""
        return self.having(suffixes=(), patch="")

    @property
    def release(self) -> tuple[int, str, int]:
        """Return the sort key of the patch release; a preview comes before the release."""
        match = re.match(r"(\d+)(?:(a|b|rc)(\d+))?", self.patch)
        return (int(match[1]), match[2] or "release", int(match[3] or 0)) if match else (-1, "", 0)

    @property
    def interpreter(self) -> "RuntimeName":
        """Return the name that `uv python find` and PATH use for the interpreter: version and
        build.
        """
        return self.having(suffixes=())

    def of_release(self, version: str) -> "RuntimeName":
        """Return the runtime's name with the patch release of *version*, which an interpreter
        reported.

        For example, the name 3.14t and the version 3.14.6 give the name 3.14.6t.
        """
        patch = version.removeprefix(f"{self.version}.")
        return self if patch == version else self.having(patch=patch)

    @property
    def binary(self) -> "RuntimeName":
        """Return the interpreter's name, with `+jit` if it must be built with a JIT."""
        return self.having(suffixes=(JIT,) * self.jit_enabled)

    @property
    def variables(self) -> dict[str, str]:
        """Return environment variables that switch a process's GIL and JIT to the state in this
        runtime's name.
        """
        if self.native:
            return {}
        unset = {switch.variable: switch.unset for switch in SWITCHES.values() if switch.unset}
        return {**unset, **{SWITCHES[name].variable: "1" for name in self.suffixes}}

    @property
    def promises(self) -> dict[str, bool]:
        """Return the GIL and JIT state that states() must return in the runtime's processes."""
        return {"gil_enabled": self.gil_enabled, "jit_enabled": self.jit_enabled}

    @property
    def gil_enabled(self) -> bool:
        """Return whether the runtime's name promises that the GIL is on."""
        return not self.native and (not self.free_threaded or GIL in self.suffixes)

    @property
    def jit_enabled(self) -> bool:
        """Return whether the runtime's name promises that the JIT is on."""
        return JIT in self.suffixes


@dataclass(frozen=True, kw_only=True)
class Flags:
    """Build options of an interpreter; null if not known."""

    pgo: bool | None = None
    lto: bool | None = None
    shared: bool | None = None
    debug: bool | None = None
    tail_call: bool | None = None
    jit: bool | None = None
    configure: str = ""


@dataclass(frozen=True, kw_only=True)
class RuntimeFacts:
    """An interpreter that a run used.

    executable: path of the interpreter
    source: how it was found: `uv`, `PATH`, `pyenv`, or `given` by `--interpreter`
    implementation, version, build, compiler: as the interpreter reports them
    gil_disabled_build: whether it is the free-threaded build
    gil_enabled, jit_enabled: what the runtime's name promises
    flags: `pgo`, `lto`, `shared`, `debug`, `tail_call`, `jit`, and the `configure` options
    packages: versions by name, by requirements file
    """

    executable: str = ""
    source: str = ""
    implementation: str = ""
    version: str = ""
    build: str = ""
    compiler: str = ""
    gil_disabled_build: bool = False
    gil_enabled: bool = False
    jit_enabled: bool = False
    flags: Flags = Flags()
    packages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def installed(self) -> dict[str, str]:
        """Return the versions of all installed packages by name."""
        return {
            name: version for of_file in self.packages.values() for name, version in of_file.items()
        }


def gil_enabled() -> bool:
    """Return whether this process has its GIL on now. Source: sys._is_gil_enabled
    (3.13 and later).
    """
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def states() -> dict[str, bool]:
    """Return the state of GIL and JIT in this process. Source of the JIT's: sys._jit (3.14 and
    later).
    """
    jit = getattr(sys, "_jit", None)
    return {"gil_enabled": gil_enabled(), "jit_enabled": bool(jit and jit.is_enabled())}


def ready_and_end(ready: Json) -> Json:
    """Return the states of GIL and JIT when this child was *ready* and now, at its end, by key:
    gil_enabled_ready, ...
    """
    return {
        f"{name}_{when}": value
        for when, found in (("ready", ready), ("end", states()))
        for name, value in found.items()
    }


def _runs_from_a_shared_library() -> bool:
    """Return whether the interpreter's code is in a shared libpython, which makes calls slower.

    Py_ENABLE_SHARED only means that the library was built, too. /proc shows whether this process
    has mapped it.
    """
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return any("/libpython3" in line for line in maps)
    except OSError:
        return bool(
            sysconfig.get_config_var("Py_ENABLE_SHARED")
            or sysconfig.get_config_var("PYTHONFRAMEWORK")
        )


def facts() -> Json:
    """Return facts about this interpreter: version, build, GIL and JIT state, compiler and build
    flags.

    build is the part of `sys.version` after the number. flags come from the configure and compiler
    options in sysconfig. Source: docs.python.org, sysconfig.get_config_vars.
    """
    options = str(sysconfig.get_config_var("CONFIG_ARGS") or "")
    compiler_flags = str(
        sysconfig.get_config_var("PY_CORE_CFLAGS") or sysconfig.get_config_var("CFLAGS") or ""
    )
    number, _, build = sys.version.partition(" ")
    jit = getattr(sys, "_jit", None)
    return {
        "implementation": sys.implementation.name,
        "version": number,
        "build": " ".join(build.split()),
        "compiler": sys.version.partition("[")[2].removesuffix("]"),
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
