"""Every request logs through one handler, whose lock all threads take: `Handler.handle` of logging."""

import logging
import os

from server import serve

LOGGER = logging.Logger("requests")
LOGGER.addHandler(logging.StreamHandler(open(os.devnull, "w", encoding="utf-8")))  # noqa: SIM115 - open for good


def handle() -> bytes:
    """Log 20 lines."""
    for line in range(20):
        LOGGER.info("line %d", line)
    return b"ok"


if __name__ == "__main__":
    serve(handle)
