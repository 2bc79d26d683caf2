"""A handler full of debug lines that are switched off."""

import logging

from answers import answer

log = logging.getLogger("shop.cart")
log.setLevel(logging.WARNING)


def app(environ, start_response):
    total = 0
    for number in range(400):
        total += number * number % 7
        log.debug("step %d: %d", number, total)
    return answer(start_response, {"total": total})
