"""Describe the hosts of a run: how each host is reached, and whether it runs services
or clients.

config/host_options.py makes a Layout of a plan, lab/hosts starts gilscope's agent with
Host.carrier, and result.json saves it (record/saved_plan.py).
A new carrier is a row of PRESETS. Each {key} in it must be a field of Host or a group of _SSH.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple


class Preset(NamedTuple):
    """The command of a carrier, which starts a program on a host and carries its stdin, stdout and
    stderr.

    needs: the key of a host that says which host is meant; "" for this machine
    words: groups of words, in which {key} is the value of a host's key. A group without its value
        is left out.
    """

    needs: str
    words: tuple[str, ...]

    @property
    def keys(self) -> set[str]:
        """Return the keys of a host that this carrier uses."""
        return {self.needs, *re.findall(r"{(\w+)}", " ".join(self.words))}


# by the value of Host.via
PRESETS: Mapping[str, Preset] = {
    "ssh": Preset(
        "ssh",
        (
            "ssh -T -o BatchMode=yes -o ConnectTimeout=8 -o ControlPath=none",
            "-p {port}",
            "-- {user}{place}",
        ),
    ),
    "here": Preset("", ()),
    "kubectl": Preset(
        "pod", ("kubectl exec -i", "-n {namespace}", "{pod}", "-c {container}", "--")
    ),
    "docker": Preset("container", ("docker exec -i", "{container}")),
    "podman": Preset("container", ("podman exec -i", "{container}")),
    "srun": Preset(
        "node",
        ("srun --overlap --unbuffered --nodes=1 --ntasks=1", "--jobid={job}", "--nodelist={node}"),
    ),
}
# The group user includes its @, so that {user}{place} is what ssh accepts.
_SSH = re.compile(r"(?P<user>[^@]*@)?\[?(?P<place>[^]]*?)\]?(:(?P<port>[0-9]+))?")


@dataclass(frozen=True, kw_only=True)
class Host:
    """A machine that runs services or clients of a run: its addresses, its CPUs and how it is
    reached.

    address: IP address that measured traffic uses; if empty, that of the host's default route
    via: the carrier that starts gilscope's agent on the host: the name of a preset, or the words of
        a command
    pod, namespace, container: of kubectl, docker and podman; job, node: of srun
    ssh: user@host:port, or a host name of ~/.ssh/config
    cpus: numbers of the CPUs that its children may use; if empty, the kernel chooses
    python: paths of interpreters that the search does not find
    """

    name: str
    address: str = ""
    via: str | tuple[str, ...] = "ssh"
    ssh: str = ""
    pod: str = ""
    namespace: str = ""
    container: str = ""
    job: str = ""
    node: str = ""
    cpus: tuple[int, ...] = ()
    python: tuple[str, ...] = ()

    @property
    def carrier(self) -> list[str]:
        """Return the command that carries a program to the host; the program's own words follow."""
        if not isinstance(self.via, str):
            return [*self.via]
        address = _SSH.fullmatch(self.ssh)
        values = {**vars(self), **(address.groupdict("") if address else {})}
        # an ssh address without a user must not leave out the group that has {user}
        given = {"user": "", **{key: value for key, value in values.items() if value}}
        words: list[str] = []
        for group in PRESETS[self.via].words:
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
        return {
            name: self.hosts[name] for name in dict.fromkeys((self.services_on, *self.clients_on))
        }
