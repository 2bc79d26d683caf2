"""What a run is to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config.plan import Plan
from lab.run.runtimes import AnyRuntime


@dataclass(frozen=True, kw_only=True)
class Order:
    """What to run: a plan, the runtimes that are present, where the run is saved; whether perf looks at it too."""

    plan: Plan
    runtimes: Mapping[str, AnyRuntime]
    folder: Path
    profile: bool = False
