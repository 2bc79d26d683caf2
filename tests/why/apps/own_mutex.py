"""A C extension with a mutex of its own, which all threads take: `Codec.encode`."""

import own_mutex_extension
from server import serve


class Codec:
    """What a service sees of the extension."""

    def encode(self) -> int:
        """Some work of its, under its mutex."""
        return int(own_mutex_extension.work(4_000_000))


CODEC = Codec()


def handle() -> bytes:
    """Encode once."""
    return b"%d" % CODEC.encode()


if __name__ == "__main__":
    serve(handle)
