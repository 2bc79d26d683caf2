"""A second process that draws figures with matplotlib while the main process writes the tables."""

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from core.languages import Language

if TYPE_CHECKING:
    from reports.document.model import Figure

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A description of an unexpected exception for a bug report: its class, its text, and its file and line."""

    kind: str
    cause: str
    where: str


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The drawings of a figure. A Failure stands for drawings that could not be made.

    panels: each panel as SVG for the page
    files: contents by file name
    """

    panels: list[str] | Failure
    files: dict[str, bytes] | Failure


class NotDrawn(Exception):
    """An error: the process that draws figures could not draw one of them."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.cause)
        self.failure = failure


def failure(error: Exception) -> Failure:
    """Return the description of an exception; for NotDrawn, that of the exception because of which drawing failed."""
    if isinstance(error, NotDrawn):
        return error.failure
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Failure(kind=type(error).__name__, cause=str(error), where=f"{Path(last.filename).name}:{last.lineno}")


class Drawings:
    """A second process, which draws figures with matplotlib while the main process writes tables.

    It forks to draw with two processes, begins when ask() names the figures, and ends with the main process.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "reports.render.figures"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,  # Ctrl-C must reach only this process, which then kills the others
        )
        self._waiting = ThreadPoolExecutor(1)
        self._answer: Future[dict[str, Drawn]] | None = None

    def __enter__(self) -> "Drawings":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._waiting.shutdown()
        self._process.communicate()

    def ask(self, figures: Sequence["Figure"], language: Language) -> None:
        """Tell the process that draws figures to start drawing *figures*."""
        asked = pickle.dumps(([replace(figure, table=None) for figure in figures], language.name))
        self._answer = self._waiting.submit(self._drawn, asked)

    def _drawn(self, asked: bytes) -> dict[str, Drawn]:
        answer, _ = self._process.communicate(asked)
        if self._process.returncode:
            raise ChildProcessError(f"the process that draws figures ended with status {self._process.returncode}")
        drawn: dict[str, Drawn] = pickle.loads(answer)
        return drawn

    def panels(self, figure: "Figure") -> list[str]:
        """Return each panel of a figure as SVG, and wait until it is drawn.

        The figure is one that was passed to ask(). Raises NotDrawn if the figure could not be drawn, and
        ChildProcessError if the second process failed.
        """
        return _checked(self._of(figure).panels)

    def files(self, figure: "Figure") -> dict[str, bytes]:
        """Return the contents of a figure's picture files by file name, and wait until they are drawn.

        The figure is one that was passed to ask(). Raises the same errors as panels().
        """
        return _checked(self._of(figure).files)

    def _of(self, figure: "Figure") -> Drawn:
        assert self._answer is not None
        return self._answer.result()[figure.key]


def _checked(drawings: T | Failure) -> T:
    if isinstance(drawings, Failure):
        raise NotDrawn(drawings)
    return drawings
