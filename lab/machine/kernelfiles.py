"""The files in which Linux tells what it is set to and what it counts. What is missing or odd reads as None."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Reader:
    """The files of /proc and /sys under *root*; what cannot be read is None."""

    root: Path = Path("/")

    def text(self, path: str) -> str | None:
        """What the file holds, without the space around it."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        """The whole number that the file holds."""
        return number(self.text(path))

    def table(self, path: str) -> dict[str, str]:
        """A file of lines such as `name value ...`, or `name: value ...`."""
        lines = (line.partition(" ") for line in (self.text(path) or "").splitlines())
        return {name.rstrip(":"): value.strip() for name, _, value in lines}

    def numbers(self, pattern: str) -> list[int]:
        """The numbers in all files that match."""
        return [value for one in self.matching(pattern) if (value := number(one)) is not None]

    def matching(self, pattern: str) -> list[str]:
        """What the files that match hold, in the order of their names."""
        paths = sorted(self.root.glob(pattern))
        return [text for path in paths if (text := self.text(str(path.relative_to(self.root))))]

    def exists(self, path: str) -> bool:
        """Is there such a file or folder?"""
        return (self.root / path).exists()


HERE = Reader()


def decimal(text: str | None) -> float | None:
    """The number that *text* is, or None."""
    try:
        return float(text or "")
    except ValueError:
        return None


def number(text: str | None) -> int | None:
    """The whole number that *text* is, or None."""
    try:
        return int(text or "")
    except ValueError:
        return None
