"""The administration's lists in a real Chromium."""

import pytest

from tests.factories import SessionFactory, UserFactory
from tests.investigations.pages.browsing import in_a_browser, in_thread, log_in

pytestmark = in_a_browser
WIDE = [{"viewport": {"width": 1440, "height": 900}}]


@pytest.mark.parametrize("page", WIDE, indirect=True)
def test_one_long_title_pushes_no_column_out_of_the_window(page, live_server):
    def make() -> None:
        SessionFactory(title="x" * 300, author="ann")
        SessionFactory(title="DiskFull", error_message="e" * 500)

    in_thread(make)
    cookie = log_in(lambda: UserFactory(admin=True))
    page.context.add_cookies([{**cookie, "url": live_server.url}])

    page.goto("/admin/investigations/alertsession/")

    last = page.locator("#result_list tbody tr").first.locator("td").last.bounding_box()
    assert last["x"] + last["width"] <= 1440
