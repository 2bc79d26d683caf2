"""What a plan asked for and this machine does not have: programs that are not built, packages that do not install."""

from collections.abc import Mapping, Sequence

from core.messages import Message
from core.result import Run


def absences(run: Run) -> dict[tuple[str, str], str]:
    """{(system, runtime): reason}."""
    return {
        (one["system"], one["runtime"]): str(Message.from_json(one["reason"])) for one in run.plan.get("absent", [])
    }


def absent_lines(run: Run, titles: Mapping[str, str] | None = None) -> list[str]:
    """One line for each reason, with all that it keeps away."""
    found: dict[str, dict[str, list[str]]] = {}
    for (system, runtime), reason in absences(run).items():
        found.setdefault(reason, {}).setdefault(system, []).append(runtime)
    return [_line(reason, [_pair(*one, titles or {}) for one in pairs.items()]) for reason, pairs in found.items()]


def _line(reason: str, pairs: Sequence[str]) -> str:
    return f"Not measured: {'; '.join(pairs)}: {reason.rstrip('.')}."


def _pair(system: str, runtimes: list[str], titles: Mapping[str, str]) -> str:
    name = f"system {system}" if system.isdigit() else titles.get(system, system)
    return name if runtimes == ["native"] else f"{name} under {', '.join(runtimes)}"
