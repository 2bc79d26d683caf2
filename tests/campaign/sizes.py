"""How much of the campaign is played: a sample in `make test`, all of it in `make campaign`, which sets CAMPAIGN.

CAMPAIGN_SEED decides what is drawn, and plays a campaign again.
"""

import os

IS_LARGE = os.environ.get("CAMPAIGN", "") not in ("", "0")
SEED = int(os.environ.get("CAMPAIGN_SEED", "") or 13)


def size(small: int, large: int) -> int:
    """How many cases."""
    return large if IS_LARGE else small
