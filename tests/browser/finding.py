"""Where a Chromium is."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")
WANTED = f"none of {', '.join(NAMES)} is on PATH; on Debian: apt-get install chromium"


def chromium() -> str | None:
    """The path of the browser; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)
