"""Every request logs through one handler, whose lock all threads take: `Handler.handle` of logging."""

import logging
import os

from server import serve, shared


def logger() -> logging.Logger:
    """A logger with a handler of its own."""
    made = logging.Logger("requests")
    made.addHandler(logging.StreamHandler(open(os.devnull, "w", encoding="utf-8")))  # noqa: SIM115 - open for good
    return made


LOGGER = shared(logger)


def handle() -> bytes:
    """Log 20 lines."""
    own = LOGGER()
    for line in range(20):
        own.info("line %d", line)
    return b"ok"


if __name__ == "__main__":
    serve(handle)
