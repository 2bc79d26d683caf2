"""A test program with known contended locks. `--profile locks` profiles it first, to check that
profiling works. It runs as a script under the profiled interpreter, so it imports only the standard
library. lab/profile/lock_watcher.py:EXPECTED has the names of the function and of the type.

Threads copy one dict, until the process is killed. Each copy holds the dict's own mutex, so the
threads wait for it.
"""

import threading

# more than one, so that they wait for each other
THREADS = 4
# entries of the dict; copying so many takes long enough to be sampled
SIZE = 20_000


def copy_dict(shared: "dict[int, None]") -> None:
    """Copy the dict *shared* forever. Each copy takes the dict's mutex."""
    while True:
        shared.copy()


def main() -> None:
    """Start the threads that contend for locks, print "ready", and wait until the process is
    killed.
    """
    by_number = dict.fromkeys(range(SIZE))
    for _ in range(THREADS):
        threading.Thread(target=copy_dict, args=(by_number,), daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
