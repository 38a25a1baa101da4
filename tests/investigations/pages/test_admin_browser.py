"""The administration's lists in a real Chromium."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from tests.factories import SessionFactory, UserFactory
from tests.investigations.pages.browsing import in_a_browser, in_thread, log_in

pytestmark = in_a_browser
WIDE = [{"viewport": {"width": 1440, "height": 900}, "timezone_id": "Asia/Kolkata"}]


@pytest.mark.parametrize("page", WIDE, indirect=True)
def test_a_list_tells_local_times_and_no_long_title_pushes_a_column_out(page, live_server):
    began = datetime(2026, 1, 31, 20, 0, 7, tzinfo=UTC)

    def make() -> None:
        SessionFactory(title="x" * 300, author="ann", created_at=began)
        SessionFactory(title="DiskFull", error_message="e" * 500)

    in_thread(make)
    cookie = log_in(lambda: UserFactory(admin=True))
    page.context.add_cookies([{**cookie, "url": live_server.url}])

    page.goto("/admin/investigations/alertsession/")

    last = page.locator("#result_list tbody tr").first.locator("td").last.bounding_box()
    table = page.locator("#changelist-form .results").bounding_box()
    assert last["x"] + last["width"] <= table["x"] + table["width"] <= 1440
    told = page.get_by_title("2026-01-31 20:00:07 UTC")
    expect(told).to_have_text("2026-02-01 01:30:07 GMT+5:30")
