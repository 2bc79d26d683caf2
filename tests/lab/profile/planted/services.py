"""Contention, planted: python services.py KIND. Each kind is known by its line, and by what waits there."""

import functools
import os
import sys
import threading
from importlib import import_module

THREADS = 6
shared_dict = dict.fromkeys(range(20_000))


class Counter:
    """One for all threads."""


def shared_dict_under_one_key() -> None:
    shared_dict[0] = None


def function_attributes() -> None:
    def view() -> None: ...

    functools.update_wrapper(view, shared_dict_under_one_key)


def counter_object() -> None:
    counters = (Counter.__dict__, LAST)
    del counters


def own_mutex() -> None:
    extension.spin()


LAST = Counter()


def repeat(work: "object") -> None:
    while True:
        work()  # type: ignore[operator]


if __name__ == "__main__":
    if sys.argv[1] == "own_mutex":
        sys.path.insert(0, os.getcwd())
        extension = import_module("_planted")
    for _ in range(THREADS):
        threading.Thread(target=repeat, args=(globals()[sys.argv[1]],), daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()
