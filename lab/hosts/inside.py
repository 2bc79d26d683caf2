"""What runs inside services on another host (lab.run.inside), through its agent."""

import zlib
from base64 import b64decode
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.errors import ChildFailed
from lab.run.inside import MOST_BYTES, Inside


class InsideThere(Inside):
    """A folder on the services' host. ask: call() of the connection there; where that is lost, nothing is known."""

    def __init__(self, ask: Callable[..., Any], parts: Mapping[str, Mapping[str, Any]]) -> None:
        self._ask, self._parts = ask, parts
        self.folder, self.root = None, Path()

    @property
    def variables(self) -> dict[str, str]:
        """The folder is made when these are first asked for: the host is connected then. Raises ChildFailed."""
        if self._parts and not self.folder:
            told = self._ask("inside", parts={name: dict(options) for name, options in self._parts.items()})
            self.folder, self.root = Path(told["folder"]), Path(told["root"])
        return super().variables

    def files(self, part: str, most_bytes: int = MOST_BYTES) -> dict[str, bytes]:
        """As the agent reads them."""
        with suppress(ChildFailed, ValueError, zlib.error):
            folder = str(self.folder or "")
            packed = self._ask("inside_files", folder=folder, part=part, most_bytes=most_bytes) if folder else {}
            return {name: zlib.decompressobj().decompress(b64decode(text), most_bytes) for name, text in packed.items()}
        return {}

    def remove(self) -> None:
        """Have the agent remove the folder."""
        if self.folder:
            with suppress(ChildFailed):
                self._ask("inside_end", folder=str(self.folder))
