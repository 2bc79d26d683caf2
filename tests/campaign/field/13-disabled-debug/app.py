"""A handler full of debug lines that are switched off. LINES=0 leaves them out."""

import logging
import os

log = logging.getLogger("shop.cart")
log.setLevel(logging.WARNING)
LINES = int(os.environ.get("LINES", "400"))


def app(environ, start_response):
    total = 0
    for number in range(400):
        total += number * number % 7
        if number < LINES:
            log.debug("step %d: %d", number, total)
    body = b'{"total": %d}' % total
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
