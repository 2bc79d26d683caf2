"""An environment for one audit, thrown away after it: uv installs, also from source, and says what is a wheel."""

import json
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from core.messages import Message
from lab.environments.environment import EnvironmentFailed, distributions
from lab.environments.requirements import Requirements, name_of, normalised
from lab.python import uv
from lab.python.interpreters import scrubbed_environment

BUILD_TIMEOUT_S = 600.0
FORBID_EXACT = ("--require-hashes", "--no-binary", "--only-binary")


class Throwaway:
    """folder: where it is made; the caller removes it. python: its interpreter."""

    def __init__(self, folder: Path, executable: Path, wanted: Requirements) -> None:
        program = uv.find()
        if program is None:
            raise EnvironmentFailed("uv was not found, and audit installs with it; install it with: pip install uv")
        self.folder = folder
        self.python = folder / "env" / "bin" / "python"
        self._uv = program
        self._wanted = wanted
        failure = self._failure(["venv", "--no-project", "--python", str(executable), str(folder / "env")])
        if failure:
            raise EnvironmentFailed(
                "No environment can be made with {executable}: {reason}.", executable=str(executable), reason=failure
            )

    def __repr__(self) -> str:
        return f"Throwaway({str(self.folder)!r}, {len(self._wanted.entries)} entries)"

    def install(self) -> dict[str, Message]:
        """Install all; where that fails, each entry alone. The entries that cannot be installed, and why."""
        if not self._install(self._wanted.entries):
            return {}
        failures = {entry: self._install([entry]) for entry in self._wanted.entries}
        return {entry: failure for entry, failure in failures.items() if failure}

    def distribution(self, entry: str) -> metadata.Distribution | None:
        """What an entry installed; None where its marker or an error left it out."""
        name = name_of(entry)
        for installed in distributions(self.python):
            if normalised(installed.name) == name or (name == entry and _origin(installed).endswith(_last_part(entry))):
                return installed
        return None

    def has_wheel(self, package: metadata.Distribution) -> bool:
        """Whether a ready-made wheel fits this interpreter. An empty cache is asked, for uv keeps what it built.

        A folder of one's own is not asked: nobody makes a wheel of it.
        """
        origin = _origin(package)
        if origin:
            return origin.endswith(".whl") or "dir_info" in (package.read_text("direct_url.json") or "")
        options = [option for option in self._wanted.options if not option.startswith(FORBID_EXACT)]
        exact = self._file("exact.txt", [*options, f"{package.name}=={package.version}"])
        install = ["pip", "install", "--dry-run", "--reinstall", "--no-deps", "--only-binary", ":all:"]
        cache = ["--cache-dir", str(self.folder / "cache")]
        return not self._failure([*install, *cache, "--python", str(self.python), "-r", str(exact)])

    def _install(self, entries: Sequence[str]) -> Message:
        """Why these entries cannot be installed, if so. With hashes, what they need has entries of its own."""
        file = self._file("wanted.txt", [*self._wanted.options, *entries])
        alone = ["--no-deps"] if self._wanted.hashed and len(entries) == 1 else []
        return self._failure(["pip", "install", *alone, "--python", str(self.python), "-r", str(file)])

    def _file(self, name: str, lines: Sequence[str]) -> Path:
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def _failure(self, arguments: Sequence[str]) -> Message:
        """Why a command of uv failed, NOTHING if it did not."""
        environment = scrubbed_environment() | {"TMPDIR": str(self.folder)}  # of builds, which may be ended
        return uv.run([self._uv, *arguments], BUILD_TIMEOUT_S, environment)


def _origin(package: metadata.Distribution) -> str:
    """Where it was installed from if that was a file or an address; "" for an index. Source: PEP 610."""
    text = package.read_text("direct_url.json")
    return str(json.loads(text)["url"]) if text else ""


def _last_part(entry: str) -> str:
    return entry.removeprefix("-e ").removeprefix("--editable ").rstrip("/").rpartition("/")[2]
