"""All threads copy one list, which holds its lock meanwhile: `Log.tail`."""

from server import serve


class Log:
    """The lines of all threads."""

    def __init__(self) -> None:
        self.lines = [0] * 20_000

    def tail(self) -> list[int]:
        """All but the first line."""
        return self.lines[1:]


LOG = Log()


def handle() -> bytes:
    """Take 30 tails."""
    for _ in range(30):
        LOG.tail()
    return b"ok"


if __name__ == "__main__":
    serve(handle)
