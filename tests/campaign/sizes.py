"""How much of the campaign is played: of most a sample in `make test`, all in `make campaign`, which sets CAMPAIGN.

CAMPAIGN_SEED decides what is drawn, and plays a campaign again.
"""

import os

import pytest

IS_LARGE = os.environ.get("CAMPAIGN", "") not in ("", "0")
SEED = int(os.environ.get("CAMPAIGN_SEED", "") or 13)
campaign_only = pytest.mark.skipif(not IS_LARGE, reason="a campaign plays this: make campaign")


def size(small: int, large: int) -> int:
    """How many cases."""
    return large if IS_LARGE else small
