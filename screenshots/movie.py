"""`python -m screenshots.movie`: the moving picture of the README, from a real run of `make demo`.

A browser is opened as the terminal says, follows the incident, presses *Approve* and waits for the
conclusion. Each frame is what it showed, and stays as long as it did; only where nothing changes
for long is the picture shorter than the run.
"""

import io
import re
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from screenshots.__main__ import FOLDER
from screenshots.camera import WITHIN
from tests.browser import LAUNCH_OPTIONS, find_chromium
from tests.demos import Demo

FILE = FOLDER / "demo.webp"
SIZE = {"width": 960, "height": 640}
PAUSE = 0.25
"""Seconds between two frames."""
LONGEST = 1_200
"""Milliseconds for which a frame stays at most while something is waited for."""
READING = 3.0
"""Seconds in which somebody reads what came."""
ENDING = 5_000
QUALITY = 62
MOST_BYTES = 1_500_000


@dataclass
class Film:
    """Frames of a page, each with the milliseconds for which it was seen."""

    page: Page
    frames: list[Image.Image] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    _last: bytes = b""
    _at: float = 0.0

    def roll(self, until: Callable[[], bool], *, within: float) -> None:
        """Film until something is so. Raises RuntimeError where it does not come to that."""
        end = time.monotonic() + within
        while not until():
            if time.monotonic() > end:
                raise RuntimeError("the demo did not get there in time")
            self._take()
            self.page.wait_for_timeout(PAUSE * 1000)
        self._take()

    def roll_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.roll(lambda: time.monotonic() > end, within=seconds + 60)

    def _take(self) -> None:
        shown = self.page.screenshot(caret="initial")
        now = time.monotonic()
        if self.durations:
            seen = self.durations[-1] + round(1000 * (now - self._at))
            self.durations[-1] = min(seen, LONGEST)
        self._at = now
        if shown != self._last:
            self._last = shown
            self.frames.append(Image.open(io.BytesIO(shown)).convert("RGB"))
            self.durations.append(0)

    def write(self, path: Path) -> int:
        """Returns the bytes that it takes."""
        self.durations[-1] = ENDING
        first, *others = self.frames
        first.save(
            path, save_all=True, append_images=others, duration=self.durations, loop=0,
            quality=QUALITY, method=6, minimize_size=True,
        )  # fmt: skip
        return path.stat().st_size


def main() -> int:
    chromium = find_chromium()
    if chromium is None:
        sys.exit("There is no Chromium here: make chromium")
    with tempfile.TemporaryDirectory(prefix="tarsy-demo-") as folder, sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=list(LAUNCH_OPTIONS))
        demo = Demo(Path(folder) / "var")
        try:
            demo.start()
            film = _follow_the_incident(browser, demo)
        finally:
            demo.stop()
        browser.close()
    size = film.write(FILE)
    print(
        f"{FILE.name}: {len(film.frames)} frames, {sum(film.durations) / 1000:.0f} s, {size} bytes"
    )
    return 0 if size <= MOST_BYTES else 1


def _follow_the_incident(browser: Browser, demo: Demo) -> Film:
    context = browser.new_context(viewport=SIZE, locale="en-GB", timezone_id="UTC")  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(WITHIN)
    [link] = re.findall(r"http://\S+/login/link/\S+", demo.output)
    page.goto(link)
    film = Film(page)
    film.roll(page.locator(".t-runrow a, .t-need a").first.is_visible, within=120)
    page.goto(f"http://localhost:{demo.port}/sessions/{_newest(demo)}/")
    film.roll(page.locator(".t-appr").first.is_visible, within=120)
    film.roll_for(READING)
    page.get_by_role("button", name="Approve", exact=True).click()
    film.roll(page.locator("#session[data-live='0']").first.is_visible, within=120)
    film.roll(page.locator("#conclusion .t-lead").first.is_visible, within=20)
    film.roll_for(READING)
    page.locator(".t-claim .t-ev").first.click()
    film.roll_for(READING)
    return film


def _newest(demo: Demo) -> str:
    sessions = demo.get("/api/v1/sessions").json()["sessions"]
    return str(sessions[0]["id"])


if __name__ == "__main__":
    sys.exit(main())
