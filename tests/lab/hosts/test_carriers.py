"""Every carrier starts an agent, passes on lines and statuses, and leaves nothing when it or the runner is killed."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from commands import hosts
from core.layout import Host
from core.messages import ChildFailed
from lab.folders import Sandbox
from lab.hosts import worker
from lab.hosts.connection import HostConnection
from lab.machine import link
from lab.places import REPOSITORY
from record.saved_plan import HostFacts
from tests.lab.hosts.namespaces import marked, sh, wait_until
from tests.lab.python.fake_pythons import script

LEFT_NOTHING_S = 10.0  # as docs/hosts.md promises
NAME = "pod; $(x) 'y' *"
# A program that stands for `kubectl exec`, with a login that writes. The program that it starts, far away, gets the
# end of its stdin if this program's own stdin ends, but not if this program is killed: the link is broken then.
KUBECTL = r"""
import os, signal, subprocess, sys, threading
print("Welcome\nto gilscope", flush=True)
far, near = os.pipe()
node = os.fork()
if not node:
    os.setsid()
    signal.signal(signal.SIGUSR1, lambda *_: os.close(near))
    words = sys.argv[sys.argv.index("--") + 1 :]
    process = subprocess.Popen(words, stdin=far, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    def pass_on(source, target):
        while data := os.read(source.fileno(), 65536):
            try:
                os.write(target, data)
            except OSError:
                pass
    passing = [threading.Thread(target=pass_on, args=pair) for pair in ((process.stdout, 1), (process.stderr, 2))]
    [thread.start() for thread in passing]
    [thread.join() for thread in passing]
    os._exit(process.wait())
os.close(far)
def send():
    while data := os.read(0, 65536):
        os.write(near, data)
    os.close(near)
    os.kill(node, signal.SIGUSR1)
threading.Thread(target=send, daemon=True).start()
os._exit(os.waitstatus_to_exitcode(os.waitpid(node, 0)[1]))
"""
RUNNER = """
import sys
from core.layout import Host
from lab.folders import Sandbox
from lab.hosts.connection import HostConnection
connection = HostConnection(Host(**eval(sys.argv[1])), Sandbox())
child = connection.start(["sleep", "1000"], {})
print("ready", flush=True)
sys.stdin.read()
"""


Reached: TypeAlias = tuple[Host, Callable[[], set[int]]]  # a host, and what returns our processes there and here
# a host, and a text that our processes have in their environment
Carried: TypeAlias = Iterator[tuple[Host, str]]


def this_machine(tmp_path: Path) -> Carried:
    yield Host(name="a", address="127.0.0.1", via="here"), str(tmp_path)


def kubectl(tmp_path: Path) -> Carried:
    (tmp_path / "kubectl.py").write_text(KUBECTL)
    script(tmp_path / "kubectl", f'exec {sys.executable} -I -S {tmp_path}/kubectl.py "$@"')
    host = Host(name="a", address="127.0.0.1", via="kubectl", pod=NAME, namespace="n", python=(sys.executable,))
    yield host, str(tmp_path)


def namespace(tmp_path: Path) -> Carried:
    """A container in all but its image: namespaces for processes and mounts."""
    command = "setpriv --pdeathsig KILL unshare -p -m --mount-proc --fork --kill-child sleep infinity"
    with subprocess.Popen(command.split(), stderr=subprocess.PIPE) as container:
        try:
            children = Path(f"/proc/{container.pid}/task/{container.pid}/children")

            def inits() -> list[str]:
                return children.read_text().split() if container.poll() is None else []

            wait_until(lambda: bool(inits()) or container.poll() is not None, "a namespace")
            if container.poll() is not None:
                pytest.skip(
                    "no right to make namespaces; what needs no namespaces is tested with agents of this machine"
                )
            via = ("nsenter", "-t", inits()[0], "-p", "-m")
            yield Host(name="a", address="", via=via, python=(sys.executable,)), str(tmp_path)
        finally:
            container.kill()


def podman(tmp_path: Path) -> Carried:
    """A container whose image is the root file system of this machine."""
    if shutil.which("podman") is None:
        pytest.skip("podman is not installed; on Debian: apt-get install podman runc")
    name = f"gilscope-{os.getpid()}"
    cache = f"/run/{name}"
    # The user's limits may be lower than those that podman would set, and crun refuses control groups of both versions.
    options = (
        f"--runtime runc --ulimit nofile=1000:1000 --ulimit nproc=1000:1000 --network host -e XDG_CACHE_HOME={cache}"
    )
    started = sh(f"podman run -d --name {name} {options} --rootfs /:O sleep infinity", check=False)
    try:
        if started.returncode:
            pytest.skip(f"podman cannot run here: {started.stderr.strip()}")
        yield Host(name="a", address="127.0.0.1", via="podman", container=name, python=(sys.executable,)), cache
    finally:
        sh(f"podman rm -f -t 0 {name}", check=False)


def srun(tmp_path: Path) -> Carried:
    """A node of a Slurm cluster that runs on this machine."""
    if shutil.which("srun") is None:
        pytest.skip("Slurm is not installed; on Debian: apt-get install slurm-wlm munge")
    node = sh("sinfo -h -t idle -o %n", check=False)
    if not node.stdout.split():
        pytest.skip(f"Slurm has no idle node here: {node.stderr.strip()}")
    allocated = sh("salloc --no-shell --nodes=1 --overcommit")
    (job,) = re.findall("Granted job allocation ([0-9]+)", allocated.stderr)
    try:
        name, python = node.stdout.split()[0], (sys.executable,)
        host = Host(name="a", address="127.0.0.1", via="srun", node=name, job=job, python=python)
        yield host, str(tmp_path)
    finally:
        sh(f"scancel {job}")


CARRIERS = {"here": this_machine, "kubectl": kubectl, "namespace": namespace, "podman": podman, "srun": srun}


@pytest.fixture(params=CARRIERS)
def reached(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reached]:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with contextmanager(CARRIERS[request.param])(tmp_path) as (host, mark):
        before = marked(mark)
        yield host, lambda: marked(mark) - before


def test_children_functions_and_the_clock_of_the_host_are_reached_and_nothing_is_left_when_the_carrier_is_killed(
    reached: Reached, sandbox: Sandbox
) -> None:
    at, processes = reached
    with closing(HostConnection(at, sandbox)) as host:
        child = host.start(["sh", "-c", "cat; echo end >&2; exit 5"], {})
        child.write(b"\xff" * 100_000 + b"\n")
        child.close_stdin()
        assert child.wait(60) == 5
        assert child.read() == b"\xff" * 100_000 + b"\n"
        assert child.stderr.content() == b"end\n"
        child.close()
        assert host.call(HostFacts, worker.facts).cores
        with pytest.raises(ChildFailed, match=r"^Host a: FileNotFoundError"):
            host.call(None, os.listdir, "/nowhere")
        with pytest.raises(ChildFailed, match="No such file"):
            host.start(["/nonexistent"], {})
        assert host.offset().error_ns < 10**9
        assert host.call(str, link.own_address)
        sleeping = host.start(["sleep", "1000"], {})
        assert len(processes()) >= 2
    sleeping.close()
    wait_until(lambda: not processes(), "nothing is left", LEFT_NOTHING_S)


def test_nothing_is_left_when_the_runner_is_killed(reached: Reached) -> None:
    host, processes = reached
    command = [sys.executable, "-c", RUNNER, repr(vars(host))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=REPOSITORY) as runner:
        assert runner.stdout
        assert runner.stdout.readline() == b"ready\n"
        assert processes()
        runner.send_signal(signal.SIGKILL)
    wait_until(lambda: not processes(), "nothing is left", LEFT_NOTHING_S)


def test_what_a_carrier_says_and_its_words_are_known_and_no_text_of_ours_is_among_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    says = "echo no such; echo pod >&2; exit 1"
    script(tmp_path / "kubectl", f'for word; do echo "$word" >> {tmp_path}/words; done; {says}')
    file = tmp_path / "hosts.yaml"
    file.write_text(json.dumps({"a": {"via": "kubectl", "pod": NAME}}))
    assert hosts.main(["--hosts", str(file), "--runtime", "3.14"]) == 1
    assert "This host cannot be used: Host a cannot be used: no such pod.\n" in capsys.readouterr().out
    assert (tmp_path / "words").read_text().splitlines() == ["exec", "-i", NAME, "--", "sh"]
