"""Runs on a host before anything of ours is there: has the agent's files put into the cache folder, and becomes it.

The orchestrator sends this text to the first Python there that can run it, with the digest of the files as argument.
It says {"have": true or false, ...} and, if it has not, reads the archive from stdin: its size on a line, its bytes.
"""

import fcntl
import hashlib
import io
import json
import os
import platform
import shutil
import stat
import sys
import tempfile
import zipfile


def digest(folder: str) -> str:
    """Of names, modes and contents of all files in *folder* that nobody made there since."""
    whole = hashlib.sha256()
    for here, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if name != "__pycache__" and not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith(".")):
            path = os.path.join(here, name)
            with open(path, "rb") as file:
                content = hashlib.sha256(file.read()).hexdigest()
            executable = bool(os.stat(path).st_mode & stat.S_IXUSR)
            whole.update(f"{os.path.relpath(path, folder)}\0{executable}\0{content}\n".encode())
    return whole.hexdigest()[:32]


def say(line: dict) -> None:  # type: ignore[type-arg]
    """One line of JSON."""
    os.write(1, json.dumps(line).encode() + b"\n")


def read(size: int) -> bytes:
    """Exactly so many bytes of stdin; what follows is the agent's."""
    data = bytearray()
    while len(data) < size:
        more = os.read(0, min(size - len(data), 1 << 20))
        if not more:
            sys.exit(3)
        data += more
    return bytes(data)


def cache() -> str:
    """Our own folder for what is kept on this host. Raises OSError."""
    folder = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gilscope")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.lstat(folder).st_uid != os.geteuid():
        raise PermissionError(1, "it belongs to somebody else", folder)
    return folder


def extract(archive: bytes, folder: str) -> None:
    """Put the files of an archive there. Raises OSError."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for entry in files.infolist():
            path = files.extract(entry, folder)
            os.chmod(path, 0o700 if entry.external_attr >> 16 & stat.S_IXUSR else 0o600)


def unpack(archive: bytes, wanted: str, place: str) -> None:
    """Put the files there in one step. Raises OSError."""
    beside = tempfile.mkdtemp(prefix="new-", dir=os.path.dirname(place))
    try:
        extract(archive, beside)
        os.symlink(os.path.join("..", "environments"), os.path.join(beside, ".runtimes"))
        if digest(beside) != wanted:
            raise OSError(5, "what arrived is not what was sent", beside)
        shutil.rmtree(place, ignore_errors=True)  # one that was damaged
        os.rename(beside, place)
    except OSError:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def main() -> None:
    """Become the agent."""
    machine, wanted = platform.machine(), dict(pair.split("=") for pair in sys.argv[1].split(","))
    name = wanted.get(machine) or wanted["any"]
    try:
        place = os.path.join(cache(), f"agent-{name}")
        lock = os.open(cache(), os.O_RDONLY)  # runs that begin at once wait for each other; it ends with this program
        fcntl.flock(lock, fcntl.LOCK_EX)
        have = os.path.isdir(place) and digest(place) == name
        say({"have": have, "machine": machine, "python": sys.version.partition(" ")[0]})
        if not have:
            size = b""
            while not size.endswith(b"\n"):
                size += read(1)
            os.makedirs(os.path.join(cache(), "environments"), exist_ok=True)
            unpack(read(int(size)), name, place)
    except OSError as error:
        say({"error": f"{error.filename or 'its cache folder'}: {error.strerror}"})
        sys.exit(3)
    start = (
        "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_module('lab.hosts.agent', run_name='__main__')"
    )
    os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", start, place])


if __name__ == "__main__":
    main()
