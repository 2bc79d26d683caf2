"""Hosts on one machine: namespaces for network, processes, mounts and clocks, with an OpenSSH server in each.

All of it hangs on processes that end with this one (setpriv --pdeathsig), also if it is killed: the namespaces and
their links go with them. A switch has a namespace of its own.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase

from core.layout import Host
from tests.lab.python.fake_pythons import script

DEADLINE_S = 30.0
CLOCKS_S = {"a": 0, "b": 3600, "c": -int(min(1800, time.monotonic() / 2))}  # no clock may be before its start
TOOLS = ("ip", "unshare", "nsenter", "setpriv", "ssh-keygen")
SSHD = "/usr/sbin/sshd"


def why_not() -> str:
    """Why there can be no such hosts here; "" if there can."""
    if not os.path.exists(SSHD):
        return "no OpenSSH server here: apt-get install openssh-server"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"needs {', '.join(missing)}"
    tried = sh("unshare -n -m -p -T --monotonic 1 --fork true", check=False)
    return f"no right to make namespaces: {tried.stderr.strip()}" if tried.returncode else ""


def sh(script: str, *, check: bool = True, within: Sequence[str] = ()) -> "subprocess.CompletedProcess[str]":
    """Run a script up to the first command that fails, which is an error if *check* is. within: words before `sh`"""
    command = [*within, "sh", "-ec", script]
    return subprocess.run(command, check=check, capture_output=True, text=True, timeout=DEADLINE_S)


def wait_until(is_so: Callable[[], bool], what: str, deadline_s: float = DEADLINE_S) -> None:
    """Raises AssertionError after the deadline."""
    until = time.monotonic() + deadline_s
    while not is_so():
        assert time.monotonic() < until, what
        signal.sigtimedwait([], 0.02)


def marked(mark: str) -> set[int]:
    """The processes with this text in their environment."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark.encode() in path.read_bytes():
                found.add(int(path.parent.name))
    return found


def python_path(executable: Path) -> str:
    """A PATH that has this interpreter."""
    return os.pathsep.join((str(executable.parent), os.defpath, str(Path(sys.executable).parent)))


@dataclass(kw_only=True)
class Machine:
    """One host. process: the holder of its namespaces, whose child is the server."""

    name: str
    address: str
    folder: Path
    process: "subprocess.Popen[bytes]"

    def processes(self) -> set[int]:
        """The processes of ours on that host."""
        return marked(f"XDG_CACHE_HOME={self.folder}/cache")

    def ports(self) -> set[int]:
        """The TCP ports at which services listen there. Source: proc(5), /proc/net/tcp: state 0A listens."""
        table = Path(f"/proc/{self.process.pid}/net/tcp").read_text()
        return {int(port, 16) for port in re.findall(":([0-9A-F]{4}) [0-9A-F:]+ 0A ", table)} - {22}

    def end(self) -> None:
        """It is gone, with all that runs on it."""
        self.process.kill()
        self.process.wait()


@dataclass(kw_only=True)
class Lab:
    """Hosts a, b and c on a switch, and this machine on it too."""

    folder: Path
    path: str
    machines: dict[str, Machine] = field(default_factory=dict)
    switch: "subprocess.Popen[bytes] | None" = None

    @property
    def subnet(self) -> str:
        return f"10.213.{os.getpid() % 250}"

    @property
    def programs(self) -> Path:
        """A folder for PATH, with an ssh that knows keys and hosts as if ~/.ssh/config had them."""
        return self.folder / "bin"

    def close(self) -> None:
        """End all hosts."""
        for machine in self.machines.values():
            machine.end()
        if self.switch:
            self.switch.kill()
            self.switch.wait()

    def host(self, name: str) -> Host:
        """As a plan describes it."""
        address = self.machines[name].address
        return Host(name=name, address=address, ssh=f"root@{address}:22")

    def start(self, name: str, path: str = "") -> None:
        """Start a host, or start it again after it was ended. path: its PATH"""
        folder, number = self.folder / name, ascii_lowercase.index(name) + 1
        address, log = f"{self.subnet}.{number}", self.folder / f"sshd_{name}.log"
        sh(f"""
            cd {self.folder}
            mkdir -p {name}
            [ -e host_{name} ] || ssh-keygen -q -t ed25519 -N '' -f host_{name}
            echo {address} $(cat host_{name}.pub) >> known_hosts
            echo 'echo Welcome' > {name}/.bashrc  # as some logins write
            cat > {name}/sshd_config <<END
HostKey {self.folder}/host_{name}
AuthorizedKeysFile {self.folder}/key.pub
StrictModes no
UsePAM no
PidFile none
PermitRootLogin yes
MaxStartups 100
SetEnv PATH={path or self.path} HOME={folder} TMPDIR={folder} XDG_CACHE_HOME={folder}/cache
END
        """)
        clock = f"-T --monotonic {CLOCKS_S[name]}" if CLOCKS_S.get(name) else ""
        server = f"{SSHD} -D -e -f {folder}/sshd_config"
        process = self._hold(f"-n -p -m {clock} --mount-proc --fork --kill-child {server}", log)
        self._in_switch(f"""
            ip link del to-{name} || true  # the kernel takes its time to remove that of a host that is gone
            ip link add to-{name} type veth peer eth0 netns {process.pid}
            ip link set to-{name} master bridge up
            nsenter -t {process.pid} -n sh -ec '
                ip addr add {address}/24 dev eth0
                ip link set eth0 address 02:00:00:00:00:{number:02x}  # the same one again
                ip link set lo up
                ip link set eth0 up'
        """)
        self.machines[name] = Machine(name=name, address=address, folder=folder, process=process)
        wait_until(lambda: b"Server listening" in log.read_bytes(), f"sshd of {name} listens")

    def link(self, name: str, state: str) -> None:
        """Its cable: up or down."""
        self._in_switch(f"ip link set to-{name} {state}")

    def make(self) -> None:
        """Start the switch and all hosts."""
        sh(f"mkdir -p /run/sshd; ssh-keygen -q -t ed25519 -N '' -f {self.folder}/key")
        known_hosts = f"UserKnownHostsFile=${{KNOWN_HOSTS:-{self.folder}/known_hosts}}"
        script(self.programs / "ssh", f'exec {shutil.which("ssh")} -i {self.folder}/key -o {known_hosts} "$@"')
        self.switch = self._hold("-n sleep infinity", self.folder / "switch.log")
        ours = f"gs{os.getpid()}"
        self._in_switch(f"""
            ip link add bridge type bridge
            ip link set bridge up
            ip link add to-us type veth peer {ours} netns {os.getpid()}
            ip link set to-us master bridge up
        """)
        sh(f"ip addr add {self.subnet}.254/24 dev {ours}; ip link set {ours} up")
        for name in CLOCKS_S:
            self.start(name)

    def _hold(self, unshared: str, log: Path) -> "subprocess.Popen[bytes]":
        """A process in a network of its own that ends with this one. unshared: arguments of unshare"""
        with log.open("wb") as file:
            command = f"setpriv --pdeathsig KILL unshare {unshared}".split()
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        own = os.stat("/proc/self/ns/net")
        wait_until(lambda: not os.path.samestat(os.stat(f"/proc/{process.pid}/ns/net"), own), "a namespace")
        return process

    def _in_switch(self, script: str) -> None:
        """Run a script in the network of the switch, whose commands see the processes of this machine."""
        assert self.switch
        sh(script, within=["nsenter", f"--net=/proc/{self.switch.pid}/ns/net"])
