"""Build the two small native programs that the wheel contains, if cargo is installed.

With the programs it is a wheel for this platform, without them for any. GILSCOPE_PURE=1 leaves them
out.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

PROGRAMS = ("loadgen", "calc-service")


class Hook(BuildHookInterface):
    """A build hook, which Hatchling calls only when it builds the wheel (pyproject.toml)."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the native programs, and tell Hatchling their paths in the wheel."""
        root = Path(self.root)
        programs = [] if os.environ.get("GILSCOPE_PURE") else built_programs(root / "native")
        for program in programs:
            build_data["force_include"][str(program)] = f"native/bin/{program.name}"
        if programs:
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform()}"


def platform() -> str:
    """Return the wheel's platform tag, which allows this system with the same or a newer C library
    version.
    """
    tags = list(platform_tags())
    return next((tag for tag in tags if tag.startswith("manylinux")), tags[0])


def built_programs(native: Path) -> list[Path]:
    """Build the native programs and return their paths. Print a message and return no paths if this
    is impossible.
    """
    if shutil.which("cargo") is None:
        print("gilscope: no cargo, so the wheel has no native programs", file=sys.stderr)
        return []
    binaries = [word for name in PROGRAMS for word in ("--bin", name)]
    done = subprocess.run(
        ["cargo", "build", "--quiet", "--release", *binaries], cwd=native, check=False
    )
    if done.returncode:
        print("gilscope: cargo failed, so the wheel has no native programs", file=sys.stderr)
        return []
    return [native / "target" / "release" / name for name in PROGRAMS]
