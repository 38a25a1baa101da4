"""Green is what came to a good end: nothing else of a session's page is, whatever stages say."""

import pytest

from tests.factories import IncidentFactory
from tests.investigations.pages.browsing import in_a_browser, in_thread
from tests.investigations.pages.test_outcomes import end_with_denied_write

pytestmark = in_a_browser

GREEN_ONES = """() => {
    const probe = document.body.appendChild(document.createElement("i"))
    probe.className = "t-fg-ok"
    const green = getComputedStyle(probe).color
    const drawn = [...document.querySelectorAll(".t-trail .t-i, .t-stage-head > .t-pill")]
    return drawn.map((each) => getComputedStyle(each).color === green)
}"""


@pytest.mark.parametrize(("is_recovered", "is_green"), [(False, False), (True, True)])
def test_no_stage_is_green_over_a_write_that_was_denied_while_the_alert_fires(
    page, is_recovered, is_green
):
    session, _asked = in_thread(
        lambda: end_with_denied_write(incident=IncidentFactory(recovered=is_recovered))
    )

    page.goto(f"/sessions/{session.pk}/")
    page.locator(".t-trail .t-i").first.wait_for()

    assert page.evaluate(GREEN_ONES) == [is_green, is_green]
