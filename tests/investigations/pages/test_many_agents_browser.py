"""Hundreds of agents side by side: the page asks where things stand once, not once an agent."""

import pytest
from playwright.sync_api import expect

from tests.factories import ExecutionFactory, SessionFactory, StageFactory
from tests.investigations.pages.browsing import in_a_browser, in_thread
from tests.investigations.pages.conftest import add_tool_call

pytestmark = in_a_browser
FEW, MANY = 20, 200
FRAMES = """() => new Promise((tell) => {
    const wait = (left) => left ? requestAnimationFrame(() => wait(left - 1)) : tell()
    wait(10)
})"""


def make_session(agents: int):
    session = SessionFactory(running=True, title="all shops fail")
    stage = StageFactory(session=session, stage_name="investigate", active=True)
    made = [
        ExecutionFactory(stage=stage, agent_name=f"agent {n}", agent_index=n, active=True)
        for n in range(1, agents + 1)
    ]
    for number, execution in enumerate(made, start=1):
        add_tool_call(execution, number)
    session.refresh_from_db()
    return session, made


def count_layouts(devtools) -> int:
    told = devtools.send("Performance.getMetrics")["metrics"]
    return next(int(each["value"]) for each in told if each["name"] == "LayoutCount")


@pytest.mark.parametrize("place", ["", "#conclusion"])
def test_layouts_do_not_grow_with_the_agents(page, stream, place):
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    layouts = {}
    for agents in (FEW, MANY):
        session, _ = in_thread(lambda agents=agents: make_session(agents))
        page.goto("/login/")
        before = count_layouts(devtools)
        page.goto(f"/sessions/{session.pk}/{place}")
        expect(page.locator("#strip")).to_be_hidden()
        page.evaluate(FRAMES)
        layouts[agents] = count_layouts(devtools) - before

    # A longer page comes in more pieces, each with a layout; but no agent brings one of its own.
    assert layouts[FEW] > 0
    assert layouts[MANY] - layouts[FEW] < 0.1 * (MANY - FEW), layouts
