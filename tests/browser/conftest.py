"""One headless Chromium for all tests of the session, and a page of a record in a file."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache

import pytest
from playwright.sync_api import Browser, sync_playwright

from core.languages import ENGLISH
from core.messages import verbatim
from record.saved_run import Run
from reports.render.html import page
from tests.reports.compare.trio import compared_trio
from tests.reports.contestants import TITLES as CONTESTANTS
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.reading import every_chapter, page_of, record_with_aa

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")  # not the session: while it runs, no other test of the process can run a loop
def browser() -> Iterator[Browser]:
    """Chromium without a window. Its sandbox needs rights that root in a container has not."""
    found = [path for path in map(shutil.which, CHROMIUM) if path]
    if not found:
        pytest.skip(f"none of {', '.join(CHROMIUM)} is on PATH; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=found[0], args=["--no-sandbox"])
        yield made
        made.close()


def with_trouble(run: Run) -> Run:
    """The run, with a cell that failed."""
    bad = replace(
        run.cells[0],
        status="failed",
        reason=verbatim("service 2 ended with status 1. Its last lines: boom"),
        clients=[],
    )
    return replace(run, cells=[bad, *run.cells[1:]])


def contest() -> str:
    """A page of echo servers at two sizes of message."""
    some = [
        blocks_of(system, rate / size, MESSAGE_BYTES=size, NUM_CONNECTIONS_PER_CLIENT=3)
        for size in (1000, 10_000)
        for system, rate in (("echo-libuv", 2e7), ("echo-netty", 1.5e7), ("echo-asyncio", 1e7))
    ]
    return page_of(contest_run(*some), titles=CONTESTANTS)


PAGES: Mapping[str, Callable[[], str]] = {
    "record": lambda: page_of(with_trouble(record_with_aa())),
    # every chapter, and few lines in each: checks that look at every element take their time
    "small-zh": lambda: page_of(with_trouble(every_chapter()), "zh"),
    "contest": contest,
    "several": lambda: page(compared_trio(), ENGLISH),
}
Address = Callable[[str], str]


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Address:
    """Where one of PAGES is."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def put(name: str) -> str:
        path = folder / f"{name}.html"
        path.write_text(PAGES[name](), encoding="utf-8")
        return path.as_uri()

    return put
