"""A page that is left open notices that nobody works any more, and that somebody does again."""

import json
import time

from playwright.sync_api import expect

from investigations.selectors.system.workers import WORKERS_KEY
from tests.investigations.pages.browsing import in_a_browser, wait_until_live

pytestmark = in_a_browser


def test_an_open_page_tells_when_the_only_worker_goes_and_comes(running, page, stream, clean_redis):
    def work():
        presence = {"seen_at": time.time(), "active": 1}
        clean_redis.hset(WORKERS_KEY, "worker-1", json.dumps(presence))

    work()
    page.clock.install()
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    strip = page.locator("#workers")
    expect(strip).to_be_hidden()

    clean_redis.delete(WORKERS_KEY)
    page.clock.run_for(21_000)
    expect(strip).to_contain_text("No worker is running.")
    work()
    page.clock.run_for(21_000)
    expect(strip).to_be_hidden()
