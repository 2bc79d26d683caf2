"""An environment for one audit, thrown away after it: uv installs what it is told, from wheels or by building."""

from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from core.messages import Message
from lab.environments.environment import EnvironmentFailed, distributions
from lab.environments.requirements import normalised
from lab.environments.resolution import FORBID_EXACT
from lab.python import uv
from lab.python.interpreters import scrubbed_environment

BUILD_TIMEOUT_S = 600.0


class Throwaway:
    """folder: where it is made; the caller removes it. python: its interpreter. options: such as an index."""

    def __init__(self, program: Path, folder: Path, executable: Path, options: Sequence[str]) -> None:
        self.folder = folder
        self.python = folder / "env" / "bin" / "python"
        self._uv = program
        self._options = [option for option in options if not option.startswith(FORBID_EXACT)]
        failure = self._failure(["venv", "--no-project", "--python", str(executable), str(folder / "env")])
        if failure:
            raise EnvironmentFailed(
                "No environment can be made with {executable}: {reason}.", executable=str(executable), reason=failure
            )

    def __repr__(self) -> str:
        return f"Throwaway({str(self.folder)!r})"

    def install(self, requirements: Sequence[str]) -> dict[str, Message]:
        """Install all from wheels; where that fails, each alone. Those that cannot be installed, and why."""
        wheels = ["--only-binary", ":all:"]
        if not requirements or not self._install(requirements, wheels):
            return {}
        failures = {requirement: self._install([requirement], wheels) for requirement in requirements}
        return {requirement: failure for requirement, failure in failures.items() if failure}

    def build(self, requirement: str, watch: Callable[[str], None]) -> Message:
        """Build one from source and install it. Why that failed, NOTHING if it did not.

        watch: is called every few seconds, with what the build wrote last
        """
        return self._install([requirement], ["--verbose"], watch)

    def distribution(self, name: str) -> metadata.Distribution | None:
        """What is installed under a normalised name."""
        installed = distributions(self.python)
        return next((package for package in installed if normalised(package.name) == name), None)

    def _install(
        self, requirements: Sequence[str], how: Sequence[str], watch: Callable[[str], None] | None = None
    ) -> Message:
        file = self.folder / "wanted.txt"
        file.write_text("\n".join([*self._options, *requirements]) + "\n", encoding="utf-8")
        return self._failure(
            ["pip", "install", "--no-deps", *how, "--python", str(self.python), "-r", str(file)], watch
        )

    def _failure(self, arguments: Sequence[str], watch: Callable[[str], None] | None = None) -> Message:
        """Why a command of uv failed, NOTHING if it did not."""
        environment = scrubbed_environment() | {"TMPDIR": str(self.folder)}  # of builds, which may be ended
        return uv.run([self._uv, *arguments], BUILD_TIMEOUT_S, environment, watch)
