"""An environment for one audit, thrown away after it: uv installs, also from source, and says what is a wheel."""

import json
import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from lab.environments.environment import EnvironmentFailed
from lab.environments.requirements import Requirements, name_of, normalised
from lab.python import interpreters
from lab.python.uv import reason

BUILD_TIMEOUT_S = 600.0
FORBID_EXACT = ("--require-hashes", "--no-binary", "--only-binary")


class Throwaway:
    """folder: where it is made; the caller removes it. python: its interpreter."""

    def __init__(self, folder: Path, executable: Path, wanted: Requirements) -> None:
        tool = interpreters.uv()
        if tool is None:
            raise EnvironmentFailed("uv was not found, and audit installs with it; `make setup` installs uv.")
        self.folder = folder
        self.python = folder / "env" / "bin" / "python"
        self._uv = str(tool)
        self._wanted = wanted
        failure = self._failure(["venv", "--no-project", "--python", str(executable), str(folder / "env")])
        if failure:
            raise EnvironmentFailed(f"No environment can be made with {executable}: {failure}.")

    def __repr__(self) -> str:
        return f"Throwaway({str(self.folder)!r}, {len(self._wanted.entries)} entries)"

    def install(self) -> dict[str, str]:
        """Install all; where that fails, each entry alone. The entries that cannot be installed, and why."""
        if not self._install(self._wanted.entries):
            return {}
        failures = {entry: self._install([entry]) for entry in self._wanted.entries}
        return {entry: failure for entry, failure in failures.items() if failure}

    def distribution(self, entry: str) -> metadata.Distribution | None:
        """What an entry installed; None where its marker or an error left it out."""
        name = name_of(entry)
        for one in self._distributions():
            if normalised(one.name) == name or (name == entry and _origin(one).endswith(_last_part(entry))):
                return one
        return None

    def has_wheel(self, entry: str, found: metadata.Distribution) -> bool:
        """Whether a ready-made wheel of it fits this interpreter. An empty cache is asked: uv keeps what it built.

        A folder of one's own is not asked: nobody makes a wheel of it.
        """
        origin = _origin(found)
        if origin:
            return origin.endswith(".whl") or "dir_info" in (found.read_text("direct_url.json") or "")
        options = [one for one in self._wanted.options if not one.startswith(FORBID_EXACT)]
        exact = self._file("exact.txt", [*options, f"{found.name}=={found.version}"])
        install = ["pip", "install", "--dry-run", "--reinstall", "--no-deps", "--only-binary", ":all:"]
        cache = ["--cache-dir", str(self.folder / "cache")]
        return not self._failure([*install, *cache, "--python", str(self.python), "-r", str(exact)])

    def _install(self, entries: Sequence[str]) -> str:
        """Why these entries cannot be installed, "" where they were. With hashes, needs have entries of their own."""
        file = self._file("wanted.txt", [*self._wanted.options, *entries])
        alone = ["--no-deps"] if self._wanted.hashed and len(entries) == 1 else []
        return self._failure(["pip", "install", *alone, "--python", str(self.python), "-r", str(file)])

    def _file(self, name: str, lines: Sequence[str]) -> Path:
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def _distributions(self) -> list[metadata.Distribution]:
        folders = self.python.parent.parent.glob("lib/python3.*/site-packages")
        return list(metadata.distributions(path=[str(folder) for folder in folders]))

    def _failure(self, arguments: Sequence[str]) -> str:
        """Why a command of uv failed, in its own words; "" where it did not."""
        try:
            done = subprocess.run(
                [self._uv, *arguments],
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=BUILD_TIMEOUT_S,
                env=interpreters.scrubbed_environment() | {"NO_COLOR": "1"},
            )
        except subprocess.TimeoutExpired:
            return f"no end after {BUILD_TIMEOUT_S:g} s"
        except OSError as error:
            return f"{self._uv} does not run ({error.strerror})"
        return reason(done.stderr) if done.returncode else ""


def _origin(found: metadata.Distribution) -> str:
    """Where it was installed from if that was a file or an address; "" for an index. Source: PEP 610."""
    text = found.read_text("direct_url.json")
    return str(json.loads(text)["url"]) if text else ""


def _last_part(entry: str) -> str:
    return entry.removeprefix("-e ").removeprefix("--editable ").rstrip("/").rpartition("/")[2]
