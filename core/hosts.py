"""Describe the hosts of a run: how each host is reached, and whether it runs services or clients."""

from collections.abc import Mapping
from dataclasses import dataclass, field

VIA = ("ssh", "here")


@dataclass(frozen=True, kw_only=True)
class Host:
    """A machine that runs services or clients of a run: its addresses, its CPUs and how it is reached.

    address: IP address that measured traffic uses
    via: 'ssh', or 'here' for this machine; both are controlled by an agent process
    ssh: user@host:port, or a host name of ~/.ssh/config
    cpus: numbers of the CPUs that its children may use; if empty, the kernel chooses
    python: paths of interpreters that the search does not find
    """

    name: str
    address: str = ""
    via: str = VIA[0]
    ssh: str = ""
    identity_file: str = ""
    known_hosts: str = ""
    cpus: tuple[int, ...] = ()
    python: tuple[str, ...] = ()


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
