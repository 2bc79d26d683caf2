"""A second process that draws figures with matplotlib while the main process writes the tables."""

import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.languages import Language

if TYPE_CHECKING:
    from reports.document.model import Figure

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The drawings of a figure, for the page and as files.

    panels: title and SVG of each panel for the page
    files: contents by file name
    """

    panels: list[tuple[str, str]]
    files: dict[str, bytes]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A description of an unexpected exception for a bug report: its class, its text, and its file and line."""

    kind: str
    cause: str
    where: str


class NotDrawn(Exception):
    """An error: the second process could not draw a figure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.cause)
        self.failure = failure


def failure(error: Exception) -> Failure:
    """Return the description of an exception; for NotDrawn, that of the exception in the second process."""
    if isinstance(error, NotDrawn):
        return error.failure
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Failure(kind=type(error).__name__, cause=str(error), where=f"{Path(last.filename).name}:{last.lineno}")


class Drawings:
    """The second process, which draws the figures that are passed to ask() and ends with the main process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "reports.render.figures"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,  # Ctrl-C must reach only this process, which then kills the other one
        )
        self._waiting = ThreadPoolExecutor(1)
        self._answer: Future[dict[str, Drawn | Failure]] | None = None

    def __enter__(self) -> "Drawings":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._waiting.shutdown()
        self._process.communicate()

    def ask(self, figures: Sequence["Figure"], language: Language) -> None:
        """Start to draw *figures* in the second process."""
        asked = pickle.dumps(([replace(figure, table=None) for figure in figures], language.name))
        self._answer = self._waiting.submit(self._drawn, asked)

    def _drawn(self, asked: bytes) -> dict[str, Drawn | Failure]:
        answer, _ = self._process.communicate(asked)
        if self._process.returncode:
            raise ChildProcessError(f"the process that draws figures ended with status {self._process.returncode}")
        drawn: dict[str, Drawn | Failure] = pickle.loads(answer)
        return drawn

    def panels(self, figure: "Figure") -> list[tuple[str, str]]:
        """Return title and SVG of each panel of a figure that was passed to ask().

        Raises NotDrawn if the figure could not be drawn, and ChildProcessError if the second process failed.
        """
        return self._of(figure).panels

    def files(self, figure: "Figure") -> dict[str, bytes]:
        """Return the files of a figure that was passed to ask(), by name. Raises the same errors as panels()."""
        return self._of(figure).files

    def _of(self, figure: "Figure") -> Drawn:
        assert self._answer is not None
        drawn = self._answer.result()[figure.key]
        if isinstance(drawn, Failure):
            raise NotDrawn(drawn)
        return drawn
