"""Figures of the profiles of `--profile locks`, for reports/sections/locks.py and lost_time.py.

A profile is an entry of Run.profiles, a dict. record/profile.py: LocksProfile declares its keys.
"""

from collections.abc import Mapping
from typing import Any

from record.saved_run import Run

Profile = Mapping[str, Any]


def profiles_of(run: Run) -> list[Profile]:
    """Return the lock profiles of a run that contain measured results."""
    return [one for one in run.profiles if one.get("kind") == "locks" and "contended" in one]


def stops_per_request(profile: Profile) -> float:
    """Return the number of stop-the-world pauses per request."""
    return float(profile["stops"] / max(1, profile["requests"]))


def share_of_time(profile: Profile, name: str) -> float:
    """Return the share of the total request time that a profile's field, such as waiting_ns,
    accounts for.
    """
    return float(min(1.0, profile[name] / max(1, profile["in_flight_ns"])))
