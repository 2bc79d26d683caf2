"""A C library used much memory at start-up and freed it; then the service fills a cache of Python objects.

The library is SQLite in memory: it asks malloc, as most extensions do. A small database made last stays open, so
that malloc cannot give the freed memory back. MB: how much each side takes.
"""

import os
import sqlite3

from answers import answer

MB = int(os.environ.get("MB", "150"))


def database(megabytes):
    made = sqlite3.connect(":memory:", check_same_thread=False)
    made.execute("create table part (data blob)")
    made.executemany("insert into part values (?)", ((bytes(900),) for _ in range(megabytes * 1000)))
    return made


big = database(MB)
small = database(1)
big.close()
cache = [bytes(1000) for _ in range(MB * 1000)]  # above 512 bytes: malloc on the default build, mimalloc on 3.14t


def app(environ, start_response):
    return answer(start_response, {"cached": len(cache)})
