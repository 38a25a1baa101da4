"""`python -m screenshots.demo`: pictures of the incident of `make demo`, from a real run.

Nothing is told here: the demo is started, its repair approved, and its page looked at.
"""

import re
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, StorageState, sync_playwright

from screenshots.__main__ import FOLDER
from screenshots.camera import WITHIN
from screenshots.sights import LOOKS
from tests.browser import LAUNCH_OPTIONS, find_chromium
from tests.demos import Demo


def main() -> int:
    chromium = find_chromium()
    if chromium is None:
        sys.exit("There is no Chromium here: make chromium")
    with tempfile.TemporaryDirectory(prefix="tarsy-demo-") as folder, sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=list(LAUNCH_OPTIONS))
        demo = Demo(Path(folder) / "var")
        try:
            demo.start()
            login = _log_in(browser, demo.output)
            request = demo.wait_for_request()
            page = f"http://localhost:{demo.port}/sessions/{request['session_id']}/"
            _take(browser, login, page, ".t-appr", "demo-approval")
            demo.approve(request)
            demo.wait_for_session("completed")
            demo.wait_until_all_is_well()
            _take(browser, login, page, "#conclusion .t-lead", "demo-finished")
        finally:
            demo.stop()
        browser.close()
    return 0


def _log_in(browser: Browser, output: str) -> StorageState:
    """Follow the link that the demo prints."""
    [link] = re.findall(r"http://\S+/login/link/\S+", output)
    with browser.new_context() as context:
        context.new_page().goto(link)
        return context.storage_state()


def _take(browser: Browser, login: StorageState, url: str, seen: str, name: str) -> None:
    for look, options in LOOKS.items():
        with browser.new_context(
            storage_state=login,
            locale="en-GB",
            timezone_id="UTC",
            **options,  # type: ignore[arg-type]  # the looks are made of its own options
        ) as context:
            page = context.new_page()
            page.goto(url)
            page.locator(seen).first.wait_for(timeout=WITHIN)
            page.evaluate("document.fonts.ready")
            page.screenshot(path=FOLDER / f"{name}-{look}.png", animations="disabled")


if __name__ == "__main__":
    sys.exit(main())
