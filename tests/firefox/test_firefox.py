"""The pages in Firefox: nothing of ours relies on Chromium alone."""

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from investigations.engine.journal import ExecutionJournal
from investigations.maskers import product_masker
from investigations.services.ledger import session_write
from investigations.stream_messages import session_status
from tarsy.aio import worker_loop
from tests.factories import (
    ExecutionFactory,
    SessionFactory,
    StageFactory,
    TimelineEventFactory,
)
from tests.firefox.bidi import find_firefox, open_firefox
from tests.investigations.pages.conftest import REPORT, add_tool_call
from tests.investigations.streaming.conftest import server, shared_server

__all__ = ["server", "shared_server"]

FIREFOX = find_firefox()
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),
    pytest.mark.skipif(FIREFOX is None, reason="NO FIREFOX HERE: apt-get install firefox-esr"),
]

FITS = "document.scrollingElement.scrollWidth <= innerWidth"
WRITTEN = "## Evidence\n\n- **died** [T1]\n- again"
STRIP = "document.querySelector('#strip')"


@pytest.fixture(autouse=True)
async def thread_lets_go_of_the_database():
    """Else the thread behind `sync_to_async` keeps its connection beyond the last test."""
    yield
    await sync_to_async(connections.close_all)()


@sync_to_async
def make_running():
    session = SessionFactory(running=True, title="basket restarts")
    stage = StageFactory(session=session, stage_name="investigate", active=True)
    first = ExecutionFactory(stage=stage, agent_name="first", agent_index=1, active=True)
    second = ExecutionFactory(stage=stage, agent_name="second", agent_index=2, active=True)
    for number in range(1, 40):
        add_tool_call(first if number % 2 else second, number)
    session.refresh_from_db()
    session.last_seq += 1
    session.save()
    event = TimelineEventFactory(
        execution=first,
        event_type="llm_response",
        streaming=True,
        sequence_number=session.last_seq,
    )
    return session, first, event


@sync_to_async
def conclude(session):
    with session_write(session.pk) as write:
        type(session).objects.filter(pk=session.pk).update(
            status="completed", final_analysis=REPORT, completed_at=session.started_at
        )
        write.tell(session_status(session.pk, "completed"))


async def test_a_session_is_followed_in_firefox_from_its_first_words_to_the_conclusion(
    server, tmp_path
):
    session, first, event = await make_running()
    journal = ExecutionJournal(first, worker_loop(), product_masker())
    block = f"document.querySelector('[data-event=\"{event.pk}\"] [data-stream]')"

    async with open_firefox(FIREFOX, tmp_path) as firefox:
        await firefox.resize(1440, 900)
        await firefox.open(f"http://127.0.0.1:{server.port}/sessions/{session.pk}/")
        await firefox.wait_for(block)
        await firefox.wait_for(f"{STRIP}.hidden")
        assert await firefox.ask(
            "[...document.querySelectorAll('.t-agents--live .t-agent-body')]"
            ".every((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 2)"
        )

        # What was said before the page listens is not said again, so it is until it does.
        while not await firefox.ask(f"Boolean({block}.querySelector('h2'))"):
            journal._show(str(event.pk), 0, WRITTEN)
            await asyncio.sleep(0.3)
        await firefox.wait_for(f"{block}.querySelector('li strong')?.textContent === 'died'")
        await firefox.wait_for(f"{block}.querySelector('a.t-ev')")
        journal._show(str(event.pk), len(WRITTEN), " and again")
        await firefox.wait_for(f"{block}.textContent.includes('again and again')")

        for width in (390, 1440):
            await firefox.resize(width, 844)
            assert await firefox.ask(FITS), width
        # A browser that is cut off says so at once.
        await firefox.ask("dispatchEvent(new Event('offline')) || 1")
        await firefox.wait_for(f"!{STRIP}.hidden")
        await firefox.wait_for(f"!{STRIP}.textContent.includes('Reconnecting')")

        await conclude(session)
        await firefox.wait_for("document.title.startsWith('✓')")
        await firefox.wait_for(
            "document.querySelector('#conclusion .t-lead')?.getBoundingClientRect().top > 0"
        )
        assert firefox.complaints == []


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/submit-alert/",
        "/submit-alert/route/",
        "/system/",
        "/maintenance/",
        "/login/",
        "/sessions/{pk}/trace/",
    ],
)
async def test_each_page_loads_in_firefox_without_a_complaint(server, tmp_path, path):
    session, *_ = await make_running()

    async with open_firefox(FIREFOX, tmp_path) as firefox:
        await firefox.resize(1440, 900)
        await firefox.open(f"http://127.0.0.1:{server.port}{path.format(pk=session.pk)}")
        assert await firefox.ask("!document.title.startsWith('Not found')")
        await firefox.wait_for("document.querySelector('#main') && document.readyState")
        await firefox.resize(390, 844)
        assert await firefox.ask(FITS)
        assert firefox.complaints == []
