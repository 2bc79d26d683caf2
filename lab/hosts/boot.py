"""The first code that runs on a host. It unpacks gilscope's files into the cache folder, and
becomes the agent.

The runner sends this text to the first suitable Python on the host (lab/hosts/carrier.py), as the
argument of -c. This code reads the archive from stdin: its size on a line, then its bytes. Nothing
of gilscope can be imported before the archive is unpacked, so this file needs the standard library
alone. It must run under Python 3.11.
"""

import fcntl
import io
import os
import runpy
import shutil
import signal
import stat
import sys
import zipfile

# this process is killed if the archive has not come by then; the alarm goes on in the agent until
# its first order
MOST_S = 60


def own_folder() -> str:
    """Make an empty folder in gilscope's cache folder, and return its path. Raises OSError.

    The folder is locked until this process ends. Concurrent processes get numbered folders. Paths
    repeat from run to run, so that environments can be used again.
    """
    cache = os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gilscope"
    )
    os.makedirs(cache, mode=0o700, exist_ok=True)
    facts = os.stat(cache)
    if facts.st_uid != os.geteuid() or facts.st_mode & stat.S_IWOTH:
        raise PermissionError(1, "it belongs to another user, or others may write to it", cache)
    number = 0
    while True:
        folder = os.path.join(cache, f"agent-{number}")
        # not closed after a success, because closing it would free the lock
        lock = os.open(f"{folder}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            number += 1
        else:
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder, 0o700)
            return folder


def extract(archive: bytes, folder: str) -> None:
    """Unpack an archive into *folder*. Raises OSError."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for entry in files.infolist():
            path = files.extract(entry, folder)
            os.chmod(path, entry.external_attr >> 16)


def main() -> None:
    """Unpack gilscope's files, and run the agent in this process."""
    signal.alarm(MOST_S)
    # no byte for the agent can be in this buffer, because the runner waits for the agent first
    with open(0, "rb", closefd=False) as stdin:
        archive = stdin.read(int(stdin.readline()))
    try:
        place = own_folder()
        extract(archive, place)
        os.makedirs(os.path.join(place, "..", "environments"), exist_ok=True)
        # the agent's files look like a checkout, which has its environments there (lab/places.py)
        os.symlink(os.path.join("..", "environments"), os.path.join(place, ".runtimes"))
    except OSError as error:
        sys.exit(
            "the files of gilscope's agent cannot be copied to the host: "
            f"{error.filename or 'its cache folder'}: {error.strerror}"
        )
    sys.path.insert(0, place)
    runpy.run_module("lab.hosts.agent", run_name="__main__")


if __name__ == "__main__":
    main()
