"""What every export has in common: what it gives back, and how its files are written."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.errors import BadInput
from core.files import write
from core.messages import Message


@dataclass(frozen=True, kw_only=True)
class Exported:
    """paths: of the files that were written. left_out: a line for each part of the run that is in none of them."""

    paths: tuple[Path, ...]
    left_out: tuple[Message, ...] = ()


@contextmanager
def writable() -> Iterator[None]:
    """Raises BadInput where a file cannot be written."""
    try:
        yield
    except OSError as error:
        path, cause = str(error.filename), str(error.strerror or error)
        raise BadInput("{path} cannot be written: {cause}; name another place.", path=path, cause=cause) from error


def written(texts: Mapping[Path, str]) -> tuple[Path, ...]:
    """Write each text to its path, making folders; the paths. Raises BadInput."""
    with writable():
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, text)
    return tuple(texts)
