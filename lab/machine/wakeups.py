"""Keep CPU cores awake during a run (KEEP_AWAKE)."""

import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from core.errors import BadInput

_SCRIPT = Path(__file__).with_name("awake.py")


def require_idle_class() -> None:
    """Raise BadInput if this platform cannot keep CPU cores awake."""
    if not hasattr(os, "SCHED_IDLE"):
        raise BadInput(
            "KEEP_AWAKE is true, but {platform} lacks the Linux scheduling policy SCHED_IDLE. Use --keep-awake false.",
            platform=sys.platform,
        )


def awake(process_group: int | None) -> Generator[None]:
    """Keep all usable cores awake from the generator's `yield` to its end. Raises BadInput if that is impossible."""
    require_idle_class()
    with kept_awake(process_group=process_group):
        yield


@contextmanager
def kept_awake(process_group: int | None = None) -> Iterator[list[int]]:
    """Keep all usable cores awake during the `with` block. Yield the pids of the processes that do so.

    These processes end with the `with` block, or when this process ends.
    process_group: the process group that they join
    Raises BadInput if no process can be started.
    """
    pids: list[int] = []
    command = [sys.executable, "-I", "-S", str(_SCRIPT), str(os.getpid())]
    with ExitStack() as keeping:
        with suppress(OSError):
            keeper = subprocess.Popen(
                [*command, *map(str, sorted(os.sched_getaffinity(0)))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=process_group,
            )
            keeping.enter_context(keeper)
            pids = [int(pid) for pid in keeper.stdout.readline().split()] if keeper.stdout else []
        if not pids:
            raise BadInput(
                "KEEP_AWAKE is true, but no process that keeps cores awake could be started. End some processes, "
                "or raise the limit (ulimit -u)."
            )
        yield pids
