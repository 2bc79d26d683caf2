"""Links that a command carries: an agent of this machine, and `ssh`."""

import os
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress

from core.hosts import Host
from lab.hosts.frames import KEPT_ALIVE_COUNT, KEPT_ALIVE_S
from lab.hosts.links import CONNECT_S, Link, LinkLost, start_command
from lab.hosts.session import SESSION
from lab.output import Kept

LAST_WORDS_S = 1.0


def here(host: Host, process_group: int) -> Link:
    """An agent of this machine, which is on no SSH session."""
    return _link(["env", "-u", SESSION, "sh", "-c", start_command(host)], process_group)


def openssh(host: Host, process_group: int) -> Link:
    """By the command ssh, which knows all of ~/.ssh/config."""
    options = {
        "BatchMode": "yes",
        "StrictHostKeyChecking": "yes",
        "ConnectTimeout": f"{CONNECT_S:.0f}",
        "ServerAliveInterval": f"{KEPT_ALIVE_S:.0f}",
        "ServerAliveCountMax": f"{KEPT_ALIVE_COUNT}",
        "ControlPath": "none",
        **({"IdentityFile": host.identity_file, "IdentitiesOnly": "yes"} if host.identity_file else {}),
        **({"UserKnownHostsFile": host.known_hosts} if host.known_hosts else {}),
    }
    user, name, port = parts(host.ssh)
    place = [*(["-p", port] if port else []), *(["-l", user] if user else []), "--", name]
    flags = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
    return _link(["ssh", "-T", *flags, *place, start_command(host)], process_group)


def parts(text: str) -> tuple[str, str, str]:
    """User, host and port of user@host:port; "" for what it leaves out. An IPv6 address stands in brackets."""
    user, _, place = text.rpartition("@")
    if place.startswith("["):
        name, _, port = place[1:].partition("]")
        return user, name, port.removeprefix(":")
    name, _, port = place.partition(":")
    return user, name, port


def _link(command: Sequence[str], process_group: int) -> Link:
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=process_group,
            bufsize=0,
        )
    except OSError as error:
        raise LinkLost("{program} does not run: {error}", program=command[0], error=error.strerror) from None
    assert process.stdin is not None
    assert process.stdout is not None
    kept = Kept()
    complaining = threading.Thread(target=_keep, args=(process, kept), name="complaints", daemon=True)
    complaining.start()
    os.set_blocking(process.stdin.fileno(), False)

    def kill() -> None:
        process.kill()
        process.wait()
        complaining.join(LAST_WORDS_S)
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()

    def status() -> int | None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(LAST_WORDS_S)
            complaining.join(LAST_WORDS_S)
        return process.returncode

    return Link(
        read_fd=process.stdout.fileno(),
        write_fd=process.stdin.fileno(),
        kill=kill,
        status=status,
        complaints=kept,
    )


def _keep(process: "subprocess.Popen[bytes]", kept: Kept) -> None:
    assert process.stderr is not None
    with process.stderr as stream:
        while data := os.read(stream.fileno(), 1 << 16):
            kept.add(data)
