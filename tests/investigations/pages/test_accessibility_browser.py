"""No page has an accessibility fault that axe calls serious, in both themes, wide and narrow."""

import pytest

from tests.factories import ApprovalRequestFactory
from tests.investigations.approving import make_decider
from tests.investigations.pages.browsing import find_serious_faults, in_a_browser, in_thread, log_in

pytestmark = in_a_browser
FITS = "document.scrollingElement.scrollWidth <= innerWidth"


@pytest.mark.parametrize(
    "page",
    [
        {"viewport": {"width": 1440, "height": 900}},
        {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
        {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
        {"viewport": {"width": 390, "height": 844}},
    ],
    ids=["wide-light", "phone-dark", "wide-dark", "phone-light"],
    indirect=True,
)
def test_axe_finds_nothing_serious_on_any_page_and_none_is_too_wide(
    finished, running, traced, page, live_server
):
    cookie = log_in(make_decider)
    in_thread(lambda: ApprovalRequestFactory(execution=running.executions.get(), risk="high"))
    page.context.add_cookies([{**cookie, "url": live_server.url}])
    faults = {}
    for address in (
        "/", f"/sessions/{finished.pk}/", f"/sessions/{running.pk}/",
        f"/sessions/{traced.pk}/trace/", "/submit-alert/", "/submit-alert/route/", "/system/",
        "/maintenance/", "/login/", "/?q=nothing-has-this",
    ):  # fmt: skip
        page.goto(address)
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        if page.locator("[data-find]").count():
            page.locator("[data-find]").click()
        page.wait_for_function(
            "() => !document.querySelector('details[data-body], [aria-busy]:not(#timeline)')"
        )
        faults[address] = find_serious_faults(page)
        if not page.evaluate(FITS):
            faults[address].append("it is wider than the window")

    assert {address: found for address, found in faults.items() if found} == {}
