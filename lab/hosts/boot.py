"""The first code that runs on a remote host. It unpacks the agent's files into the cache folder and runs the agent.

The runner passes this text to the first suitable Python on the host. This code reports the host's architecture, and
reads the matching archive from stdin: its size on a line, then its bytes.
"""

import fcntl
import io
import json
import os
import platform
import runpy
import shutil
import stat
import sys
import zipfile


def say(**line: str) -> None:
    """Write a line of JSON to stdout, with a prefix that distinguishes it from a login shell's output."""
    os.write(1, b"gilscope " + json.dumps(line).encode() + b"\n")


def read(size: int) -> bytes:
    """Read exactly *size* bytes from stdin, and leave later bytes for the agent."""
    data = bytearray()
    while len(data) < size:
        more = os.read(0, min(size - len(data), 1 << 20))
        if not more:
            sys.exit(3)
        data += more
    return bytes(data)


def own_folder(name: str) -> tuple[str, int]:
    """Make an empty folder in gilscope's cache folder. Return its path and a file that locks it. Raises OSError.

    The folder is locked until that file is closed or this process ends. Concurrent processes get numbered folders.
    Paths repeat from run to run, so that environments can be used again.
    """
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gilscope")
    os.makedirs(cache, mode=0o700, exist_ok=True)
    facts = os.stat(cache)
    if facts.st_uid != os.geteuid() or facts.st_mode & stat.S_IWOTH:
        raise PermissionError(1, "it belongs to another user, or others may write to it", cache)
    number = 0
    while True:
        folder = os.path.join(cache, f"{name}-{number}")
        lock = os.open(f"{folder}.lock", os.O_RDWR | os.O_CREAT, 0o600)  # open until this process ends
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            number += 1
        else:
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder, 0o700)
            return folder, lock


def extract(archive: bytes, folder: str) -> None:
    """Unpack an archive into *folder*. Raises OSError."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for entry in files.infolist():
            path = files.extract(entry, folder)
            os.chmod(path, 0o700 if entry.external_attr >> 16 & stat.S_IXUSR else 0o600)


def main() -> None:
    """Report the host's architecture, unpack the agent's files, and run the agent in this process."""
    say(machine=platform.machine())
    size = b""
    while not size.endswith(b"\n"):
        size += read(1)
    archive = read(int(size))
    try:
        place, _lock = own_folder("agent")
        extract(archive, place)
        os.makedirs(os.path.join(place, "..", "environments"), exist_ok=True)
        os.symlink(os.path.join("..", "environments"), os.path.join(place, ".runtimes"))
    except OSError as error:
        say(error=f"{error.filename or 'its cache folder'}: {error.strerror}")
        sys.exit(3)
    sys.path.insert(0, place)
    runpy.run_module("lab.hosts.agent", run_name="__main__")


if __name__ == "__main__":
    main()
