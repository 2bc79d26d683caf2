"""The first screens of a page as a picture, for the docs.

Usage: python -m tests.browser.picture REPORT.html PICTURE.png [light|dark]
"""

import sys
from pathlib import Path
from typing import Literal, cast

from playwright.sync_api import sync_playwright

from tests.browser.finding import chromium


def main() -> None:
    """Write the picture."""
    page_path, picture, *scheme = sys.argv[1:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        colours = cast(Literal["light", "dark"], scheme[0] if scheme else "light")
        page = browser.new_page(viewport={"width": 1100, "height": 1500}, color_scheme=colours)
        page.goto(Path(page_path).resolve().as_uri())
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
