"""All threads write one key of one dict, which takes its lock each time: `Cache.put`."""

from server import serve


class Cache:
    """One dict for all."""

    def __init__(self) -> None:
        self.items: dict[str, int] = {}

    def put(self, value: int) -> None:
        """The newest value for all."""
        self.items["newest"] = value


CACHE = Cache()


def handle() -> bytes:
    """Put 3000 times."""
    for value in range(3000):
        CACHE.put(value)
    return b"ok"


if __name__ == "__main__":
    serve(handle)
