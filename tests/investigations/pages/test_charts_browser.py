"""A chart in a real browser: seen, named for who does not see it, and no wider than a phone."""

import json

import pytest
from playwright.sync_api import expect

from investigations.models import AlertSession
from tests.factories import ExecutionFactory, SessionFactory, StageFactory
from tests.investigations.pages.browsing import find_serious_faults, in_a_browser
from tests.investigations.pages.conftest import add_tool_call

pytestmark = in_a_browser
T0 = 1_760_000_000
FITS = "document.scrollingElement.scrollWidth <= innerWidth"


@pytest.fixture
def charted(db: None) -> AlertSession:
    session = SessionFactory(completed=True)
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
    few = [[T0 + 15 * n, f"{n % 7}"] for n in range(40)]
    many = [[T0 + 15 * n, f"{n % 90}"] for n in range(3000)]
    add_tool_call(execution, 1, json.dumps([{"metric": {"pod": "a" * 90}, "values": few}] * 3))
    add_tool_call(execution, 2, json.dumps([{"metric": {"pod": "b"}, "values": many}]))
    return session


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chart_is_seen_and_told_and_fits(charted, page, width, theme):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"/sessions/{charted.pk}/#T1")
    short = page.locator("details:has(> #T1) .t-chart")

    expect(short.get_by_role("img")).to_have_accessible_name(
        "3 lines between 0 and 6; the figures stand below"
    )
    box = short.locator("svg").first.bounding_box()
    assert box["width"] > 150
    assert box["height"] > 100
    assert page.evaluate(FITS)
    assert find_serious_faults(page) == []

    page.goto(f"/sessions/{charted.pk}/#T2")
    page.get_by_role("link", name="Draw a chart").press("Enter")
    drawn = page.locator("details:has(> #T2) .t-chart")
    expect(drawn).to_contain_text("pod=b lowest 0, highest 89, last 29")
    assert page.evaluate(FITS)
