"""Files of a saved run that other tools open: one file here a format; formats.py lists them."""

from collections.abc import Iterable, Mapping
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


def written(contents: Mapping[Path, str | bytes], left_out: Iterable[Message] = ()) -> Exported:
    """Write each content to its path, making folders. Raises BadInput."""
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, content)
    except OSError as error:
        named, cause = str(error.filename), str(error.strerror or error)
        raise BadInput("{path} cannot be written: {cause}; name another place.", path=named, cause=cause) from error
    return Exported(paths=tuple(contents), left_out=tuple(left_out))
