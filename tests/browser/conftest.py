"""One headless Chromium for all tests of the session, and a page of a record in a file."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, sync_playwright

from core.languages import ENGLISH
from core.messages import verbatim
from core.result import Run
from reports.render.html import page
from reports.several import side_by_side
from tests.browser.finding import WANTED, chromium
from tests.reports.contestants import TITLES as CONTESTANTS
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.reading import every_chapter, page_of, record_with_aa
from tests.reports.several.trio import trio


@pytest.fixture(scope="module")  # not the session: while it runs, no other test of the process can run a loop
def browser() -> Iterator[Browser]:
    """Chromium without a window. Its sandbox needs rights that root in a container has not."""
    executable = chromium()
    if executable is None:
        pytest.skip(WANTED)
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield made
        made.close()


def record_with_trouble() -> Run:
    """The record, with a cell that failed."""
    run = record_with_aa()
    bad = replace(
        run.cells[0],
        status="failed",
        reason=verbatim("service 2 ended with status 1. Its last lines: boom"),
        clients=[],
    )
    return replace(run, cells=[bad, *run.cells[1:]])


Write = Callable[[str], str]


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Puts a page in a file of its own; its address."""

    def put(text: str) -> str:
        path = tmp_path_factory.mktemp("page") / "report.html"
        path.write_text(text, encoding="utf-8")
        return path.as_uri()

    return put


@pytest.fixture(scope="session")
def page_url(write: Write) -> str:
    """Where the page of a record is."""
    return write(page_of(record_with_trouble()))


@pytest.fixture(scope="session")
def chinese_url(write: Write) -> str:
    """The same page in Chinese."""
    return write(page_of(record_with_trouble(), "zh"))


@pytest.fixture(scope="session")
def small_url(write: Write) -> str:
    """A page with every chapter, and few lines in each: checks that look at every element take their time."""
    return write(page_of(every_chapter()))


@pytest.fixture(scope="session")
def small_chinese_url(write: Write) -> str:
    """The same in Chinese."""
    return write(page_of(every_chapter(), "zh"))


@pytest.fixture(scope="session")
def contest_url(write: Write) -> str:
    """A page of echo servers at two sizes of message."""
    some = [
        blocks_of(system, rate / size, MESSAGE_BYTES=size, NUM_CONNECTIONS_PER_CLIENT=3)
        for size in (1000, 10_000)
        for system, rate in (("echo-libuv", 2e7), ("echo-netty", 1.5e7), ("echo-asyncio", 1e7))
    ]
    return write(page_of(contest_run(*some), titles=CONTESTANTS))


@pytest.fixture(scope="session")
def several_url(write: Write) -> str:
    """A page of three runs side by side."""
    return write(page(side_by_side(trio()), ENGLISH))
