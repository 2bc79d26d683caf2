"""All threads copy one dict, which holds its lock meanwhile: `Cache.snapshot`."""

from server import serve


class Cache:
    """One dict for all."""

    def __init__(self) -> None:
        self.items = dict.fromkeys(range(5000), 0)

    def snapshot(self) -> dict[int, int]:
        """All there is."""
        return self.items.copy()


CACHE = Cache()


def handle() -> bytes:
    """Take 30 snapshots."""
    for _ in range(30):
        CACHE.snapshot()
    return b"ok"


if __name__ == "__main__":
    serve(handle)
