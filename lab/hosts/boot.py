"""Runs on a host before anything of ours is there: unpacks the agent's files into the cache folder, and becomes it.

The runner sends this text to the first Python there that can run it. It says what machine this is, and reads the
archive that fits from stdin: its size on a line, then its bytes.
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
    """Write a line of JSON; what a login writes does not begin like that."""
    os.write(1, b"gilscope " + json.dumps(line).encode() + b"\n")


def read(size: int) -> bytes:
    """Return exactly so many bytes of stdin; what follows is the agent's."""
    data = bytearray()
    while len(data) < size:
        more = os.read(0, min(size - len(data), 1 << 20))
        if not more:
            sys.exit(3)
        data += more
    return bytes(data)


def own_folder(name: str) -> str:
    """Return an empty folder in our cache folder, which is this process's until it ends. Raises OSError.

    There are as many of one *name* as processes had one at once. Paths stay the same, so that environments do.
    """
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gilscope")
    os.makedirs(cache, mode=0o700, exist_ok=True)
    if os.lstat(cache).st_uid != os.geteuid():
        raise PermissionError(1, "it belongs to somebody else", cache)
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
            return folder


def extract(archive: bytes, folder: str) -> None:
    """Put the files of an archive there. Raises OSError."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for entry in files.infolist():
            path = files.extract(entry, folder)
            os.chmod(path, 0o700 if entry.external_attr >> 16 & stat.S_IXUSR else 0o600)


def main() -> None:
    """Become the agent."""
    say(machine=platform.machine())
    size = b""
    while not size.endswith(b"\n"):
        size += read(1)
    archive = read(int(size))
    try:
        place = own_folder("agent")
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
