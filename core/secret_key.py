"""The key of the digests by which values that were not kept are known again: a file of the user's, mode 0600."""

import hashlib
import os
import secrets
import tempfile
from functools import cache
from pathlib import Path

from core.errors import BadInput

KEY_BYTES = 32


def path() -> Path:
    """Where it is: in $XDG_STATE_HOME, or ~/.local/state."""
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if os.path.isabs(state) else Path("~/.local/state").expanduser()
    return folder / "gilscope" / "key"


def key() -> bytes:
    """The key; a new one where there is none yet. Raises BadInput."""
    return _key_in(path())


def key_id() -> str:
    """Tells two keys apart, and nothing else about them."""
    return hashlib.sha256(b"gilscope " + key()).hexdigest()[:8]


@cache
def _key_in(file: Path) -> bytes:
    try:
        if not file.exists():
            _make(file)
        content = file.read_bytes()
    except (OSError, RuntimeError) as error:
        raise _unusable(file, getattr(error, "strerror", None) or str(error)) from error
    if len(content) != KEY_BYTES:
        raise _unusable(file, f"{len(content)} bytes")
    return content


def _unusable(file: Path, reason: str) -> BadInput:
    return BadInput(
        "The key {file}, by which secret values are known again, cannot be used: {reason}. Remove it, or set "
        "XDG_STATE_HOME to a folder where it can be.",
        file=str(file),
        reason=reason,
    )


def _make(file: Path) -> None:
    """Write a key beside the file and link it there: of two processes that do so at once, the first one's counts."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, beside = tempfile.mkstemp(dir=file.parent)  # mode 0600
    try:
        with open(descriptor, "wb") as new:
            new.write(secrets.token_bytes(KEY_BYTES))
            new.flush()
            os.fsync(new.fileno())
        os.link(beside, file)
    except FileExistsError:
        pass
    finally:
        os.unlink(beside)
