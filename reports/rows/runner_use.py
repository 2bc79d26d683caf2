"""Runs across hosts: whether the runner itself took cores or links from what was measured, or was late. Pure."""

from dataclasses import dataclass

from core.messages import Message, listed, message
from core.result import CellResult, Run

MOST_CPU = 0.01  # of a core, where it runs beside measured children
MOST_BYTES_PER_S = 100_000  # to and from all hosts, while clients are timed
MOST_LATE = 0.01  # of the window


@dataclass(frozen=True, kw_only=True)
class RunnerUse:
    """The most that a cell saw. cpu: cores, while clients were timed; late: of a window, until all clients had begun

    shared: hosts that are the runner's machine
    """

    cpu: float
    bytes_per_s: float
    late: float
    shared: tuple[str, ...]

    @property
    def summary(self) -> Message:
        """All three figures."""
        return message(
            "at most {cpu:.1%} of a core and {rate:.1f} kB/s while clients were timed; they began at most {late:.2%} "
            "of their window late",
            cpu=self.cpu,
            rate=self.bytes_per_s / 1e3,
            late=self.late,
        )

    @property
    def distortions(self) -> list[Message]:
        """What of it can distort figures; nothing where all is within bounds."""
        distortions = []
        if self.shared:
            distortions.append(
                message(
                    "The runner shares the machine of {hosts}, where it used up to {cpu:.1%} of a core while clients "
                    "were timed ({most:.0%} is little): run it on a machine of its own.",
                    hosts=listed(self.shared),
                    cpu=self.cpu,
                    most=MOST_CPU,
                )
            )
        if self.bytes_per_s > MOST_BYTES_PER_S:
            distortions.append(
                message(
                    "The runner's links carried up to {rate:.0f} kB/s while clients were timed, which must be at most "
                    "{most:.0f}.",
                    rate=self.bytes_per_s / 1e3,
                    most=MOST_BYTES_PER_S / 1e3,
                )
            )
        if self.late > MOST_LATE:
            distortions.append(
                message(
                    "Clients began up to {late:.1%} of their window late, which must be at most {most:.0%}: the "
                    "runner, its links or the clients' hosts are too slow.",
                    late=self.late,
                    most=MOST_LATE,
                )
            )
        return distortions


def runner_use(run: Run) -> RunnerUse | None:
    """Of all cells; None where none says."""
    windows = [(window, cell) for cell in run.cells if (window := cell.runner.get("window")) and window["ns"]]
    if not windows:
        return None
    hosts = run.machine.get("hosts") or {}
    return RunnerUse(
        cpu=max(window["cpu_ns"] / window["ns"] for window, _ in windows),
        bytes_per_s=max(window["link_bytes"] * 1e9 / window["ns"] for window, _ in windows),
        late=max(_late_ns(cell) / window["ns"] for window, cell in windows),
        shared=tuple(name for name, host in hosts.items() if host.get("with_runner")),
    )


def _late_ns(cell: CellResult) -> int:
    return max((host.get("late_ns", 0) for host in cell.hosts.values()), default=0)
