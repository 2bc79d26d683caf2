"""How much of the campaign is run: little in `make test`, all of it with CAMPAIGN=1. CAMPAIGN_SEED replays a run."""

import os
import secrets

IS_LARGE = os.environ.get("CAMPAIGN", "") not in ("", "0")
SEED = int(os.environ.get("CAMPAIGN_SEED", "") or secrets.randbelow(2**32))


def size(small: int, large: int) -> int:
    """How many cases."""
    return large if IS_LARGE else small
