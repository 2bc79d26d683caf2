"""All threads write one key of one dict: `Cache.put`."""

from server import serve


class Cache:
    """One dict for all."""

    def __init__(self) -> None:
        self.items = {"key": 0}

    def put(self, value: int) -> None:
        """Keep *value*."""
        self.items["key"] = value


CACHE = Cache()


def handle() -> bytes:
    """Put 2000 values."""
    for value in range(2000):
        CACHE.put(value)
    return b"ok"


if __name__ == "__main__":
    serve(handle)
