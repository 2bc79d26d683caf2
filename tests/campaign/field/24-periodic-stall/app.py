"""A service that is fast, except that all its threads stop for 0.4 of every 2 s."""

import threading
import time

from answers import answer

PERIOD_S, STALL_S = 2, 0.4
gate = threading.Lock()


def stall():
    while True:
        time.sleep(PERIOD_S - STALL_S)
        with gate:
            time.sleep(STALL_S)


threading.Thread(target=stall, daemon=True).start()


def app(environ, start_response):
    with gate:
        return answer(start_response, "ok")
