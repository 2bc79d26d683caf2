"""Read Linux settings and counters from files in /proc and /sys. For a missing or malformed file, return None."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A reader of the files in /proc and /sys below *root*. It returns None for an unreadable file."""

    root: Path = Path("/")

    def text(self, path: str) -> str | None:
        """Return the content of a file, without leading and trailing white space."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        """Return the integer that a file contains."""
        return number(self.text(path))

    def table(self, path: str) -> dict[str, str]:
        """Parse a file with lines `name value ...` or `name: value ...` into a dict."""
        lines = (line.partition(" ") for line in (self.text(path) or "").splitlines())
        return {name.rstrip(":"): value.strip() for name, _, value in lines}

    def numbers(self, pattern: str) -> list[int]:
        """Return the integers in all files that match a glob pattern."""
        return [value for one in self.matching(pattern) if (value := number(one)) is not None]

    def matching(self, pattern: str) -> list[str]:
        """Return the contents of all files that match a glob pattern, sorted by file name."""
        paths = sorted(self.root.glob(pattern))
        return [text for path in paths if (text := self.text(str(path.relative_to(self.root))))]

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        return (self.root / path).exists()


HERE = Reader()


def decimal(text: str | None) -> float | None:
    """Parse *text* as a float; return None if it is not a number."""
    try:
        return float(text or "")
    except ValueError:
        return None


def number(text: str | None) -> int | None:
    """Parse *text* as an integer; return None if it is not an integer."""
    try:
        return int(text or "")
    except ValueError:
        return None
