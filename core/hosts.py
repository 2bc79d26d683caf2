"""Hosts of a run: how each is reached, and which of them serve and which call."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

VIA = ("ssh", "here")


@dataclass(frozen=True, kw_only=True)
class Host:
    """One host. via: what reaches it; 'here' is this machine, through an agent like all others.

    ssh: user@host:port, or a name of ~/.ssh/config. address: what measured traffic uses
    cpus: those that its children may run on; empty where the kernel chooses
    python: paths of interpreters, if they are not found
    """

    name: str
    address: str
    via: str = VIA[0]
    ssh: str = ""
    identity_file: str = ""
    known_hosts: str = ""
    cpus: tuple[int, ...] = ()
    python: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The hosts of a run by name, the one of the services, and those of the clients, which take turns."""

    hosts: Mapping[str, Host] = field(hash=False)
    services_on: str
    clients_on: tuple[str, ...]

    @property
    def used(self) -> dict[str, Host]:
        """The hosts that take part, the one of the services first."""
        return {name: self.hosts[name] for name in dict.fromkeys((self.services_on, *self.clients_on))}

    @property
    def client_addresses(self) -> list[str]:
        """Whom services serve, and nobody else."""
        return [self.hosts[name].address for name in self.clients_on]

    def client_host(self, client_id: int) -> str:
        """The host of a client."""
        return self.clients_on[client_id % len(self.clients_on)]

    def to_json(self) -> dict[str, Any]:
        """As result.json has it."""
        return asdict(self)
