"""All threads append to one list, which takes its lock each time: `Log.add`."""

from server import serve


class Log:
    """The newest lines of all threads."""

    def __init__(self) -> None:
        self.lines: list[int] = []

    def add(self, line: int) -> None:
        """One more line; of many, none is kept."""
        self.lines.append(line)
        if line == 0:
            self.lines.clear()


LOG = Log()


def handle() -> bytes:
    """Add 3000 lines."""
    for line in range(3000):
        LOG.add(line)
    return b"ok"


if __name__ == "__main__":
    serve(handle)
