"""Describe the hosts of a run: how each host is reached, and whether it runs services or clients."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

# Carriers by name: the words of a command that starts a program on a host and carries its stdin, stdout and stderr. In
# braces are keys of the host. A group of words is left out if its key is not given. Each value is part of one word.
PRESETS: Mapping[str, tuple[str, ...]] = {
    "ssh": (
        "ssh -T -o BatchMode=yes -o ConnectTimeout=8 -o ControlPath=none",
        '-o IdentitiesOnly=yes -o IdentityFile="{identity_file}"',
        '-o UserKnownHostsFile="{known_hosts}"',
        "-p {port}",
        "-- {user}{place}",
    ),
    "here": (),
}
_SSH = re.compile(r"(?P<user>[^@]*@)?\[?(?P<place>[^]]*?)\]?(:(?P<port>[0-9]+))?")


@dataclass(frozen=True, kw_only=True)
class Host:
    """A machine that runs services or clients of a run: its addresses, its CPUs and how it is reached.

    address: IP address that measured traffic uses
    via: the carrier that starts gilscope's agent on the host: the name of a preset ('here' for this machine)
    ssh: user@host:port, or a host name of ~/.ssh/config
    cpus: numbers of the CPUs that its children may use; if empty, the kernel chooses
    python: paths of interpreters that the search does not find
    """

    name: str
    address: str
    via: str = "ssh"
    ssh: str = ""
    identity_file: str = ""
    known_hosts: str = ""
    cpus: tuple[int, ...] = ()
    python: tuple[str, ...] = ()

    @property
    def carrier(self) -> list[str]:
        """Return the command that carries a program to the host; the program's own words follow."""
        address = _SSH.fullmatch(self.ssh)
        values = {**vars(self), **(address.groupdict("") if address else {})}
        given = {"user": "", **{key: value for key, value in values.items() if value}}
        words: list[str] = []
        for group in PRESETS[self.via]:
            with suppress(KeyError):  # a key that is not given
                words += [word.format_map(given) for word in group.split()]
        return words


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The hosts of a run by name, with the host of the services and the hosts of the clients.

    Client 0 runs on the first host of the clients, client 1 on the next, and so on.
    """

    hosts: Mapping[str, Host] = field(hash=False)
    services_on: str
    clients_on: tuple[str, ...]

    @property
    def used(self) -> dict[str, Host]:
        """Return the hosts that take part in the run, the services' host first."""
        return {name: self.hosts[name] for name in dict.fromkeys((self.services_on, *self.clients_on))}

    @property
    def client_addresses(self) -> list[str]:
        """Return the addresses of the clients' hosts. Services accept connections only from these addresses."""
        return [self.hosts[name].address for name in self.clients_on]

    def client_host(self, client_id: int) -> str:
        """Return the name of the host on which client *client_id* runs."""
        return self.clients_on[client_id % len(self.clients_on)]

    def to_json(self) -> dict[str, Any]:
        """Return the hosts in the form in which result.json stores them."""
        return asdict(self)
