"""A service that is fast, except that all its threads stop for STALL_S of every PERIOD_S seconds (0.4 of 2 s)."""

import os
import threading
import time

PERIOD_S = float(os.environ.get("PERIOD_S", "2"))
STALL_S = float(os.environ.get("STALL_S", "0.4"))
gate = threading.Lock()


def stall():
    while True:
        time.sleep(PERIOD_S - STALL_S)
        with gate:
            time.sleep(STALL_S)


threading.Thread(target=stall, daemon=True).start()


def app(environ, start_response):
    with gate:
        pass
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "3")])
    return [b"ok\n"]
