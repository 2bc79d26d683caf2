"""What the watching of locks is tried on before it is believed: known objects, under the measured interpreter.

Threads copy one list and one dict, each under the object's own mutex, until it is ended: they wait for these.
"""

import threading

THREADS = 4
SIZE = 20_000


def copy_list(shared: "list[int]") -> None:
    """Take the list's mutex again and again."""
    while True:
        shared.copy()


def copy_dict(shared: "dict[int, int]") -> None:
    """Take the dict's mutex again and again."""
    while True:
        shared.copy()


def main() -> None:
    """Start, say so, and go on."""
    numbers = list(range(SIZE))
    by_number = dict(enumerate(numbers))
    for _ in range(THREADS):
        threading.Thread(target=copy_list, args=(numbers,), daemon=True).start()
        threading.Thread(target=copy_dict, args=(by_number,), daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
