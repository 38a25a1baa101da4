"""Takes the pictures, and fails on whatever a page complains about."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, StorageState, sync_playwright

from screenshots.sights import LOOKS, SIGHTS, Moment, Sight
from tests.browser import LAUNCH_OPTIONS, Page, find_chromium

WITHIN = 20_000
"""Milliseconds for a page to be all there."""


class Camera:
    """One browser with a person in front of it, who looks at what is called like `only`."""

    def __init__(self, browser: Browser, base_url: str, folder: Path, only: str) -> None:
        self._browser = browser
        self._base_url = base_url
        self._folder = folder
        self._only = only
        self._login: StorageState | None = None
        self.complaints: list[str] = []

    def log_in(self, name: str, password: str) -> None:
        """Go through the form; what is taken from now on is taken as this person."""
        with self._open({}) as context:
            page = context.new_page()
            page.goto("/login/")
            page.locator("#id_username").fill(name)
            page.locator("#id_password").fill(password)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(f"{self._base_url}/")
            self._login = context.storage_state()

    def take_all(self, moment: Moment, find: Callable[[Sight], str]) -> int:
        """Take the sights of a moment in every look, each at the address that `find` gives.

        Returns how many pictures that made.
        """
        wanted = [sight for sight in SIGHTS if sight.name.startswith(self._only)]
        sights = [sight for sight in wanted if sight.moment == moment]
        for look, options in LOOKS.items():
            with self._open(options) as context:
                for sight in sights:
                    self._take(context, sight, look, find(sight))
        return len(sights) * len(LOOKS)

    def _take(self, context: BrowserContext, sight: Sight, look: str, address: str) -> None:
        page = Page(context.new_page())
        shown = page.browser_page
        shown.goto(address)
        shown.locator(sight.seen).first.wait_for(timeout=WITHIN)
        if sight.prepare is not None:
            sight.prepare(shown)
        shown.evaluate("document.fonts.ready")
        shown.screenshot(path=self._folder / f"{sight.name}-{look}.png", animations="disabled")
        self.complaints += [f"{sight.name}, {look}: {words}" for words in page.complaints]
        shown.close()

    @contextmanager
    def _open(self, options: Mapping[str, object]) -> Iterator[BrowserContext]:
        context = self._browser.new_context(
            base_url=self._base_url,
            storage_state=self._login,
            locale="en-GB",
            timezone_id="UTC",
            **options,  # type: ignore[arg-type]  # the looks are made of its own options
        )
        yield context
        context.close()


@contextmanager
def open_camera(base_url: str, folder: Path, only: str) -> Iterator[Camera]:
    """A camera that writes into the folder. Raises RuntimeError where there is no Chromium."""
    chromium = find_chromium()
    if chromium is None:
        raise RuntimeError("there is no Chromium here: make chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(LAUNCH_OPTIONS))
        yield Camera(browser, base_url, folder, only)
        browser.close()
