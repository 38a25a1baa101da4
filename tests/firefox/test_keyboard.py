"""Keys alone, in both browsers: sign in, approve, from a claim to the bytes, ask."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from playwright.async_api import Error, Page, async_playwright

from investigations.models import ApprovalRequest, ChatUserMessage
from tests.browser import LAUNCH_OPTIONS, find_chromium
from tests.factories import (
    ApprovalRequestFactory,
    ExecutionFactory,
    SessionFactory,
    StageFactory,
    UserFactory,
)
from tests.firefox.bidi import PATIENCE, find_firefox, open_firefox
from tests.investigations.conftest import CONFIG_DIR, chains
from tests.investigations.pages.conftest import add_tool_call
from tests.investigations.streaming.conftest import daphne

__all__ = ["chains", "daphne"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),
    pytest.mark.usefixtures("chains", "clean_redis"),
]

PASSWORD = "correct horse battery staple"
QUESTION = "Was it killed before?"
MOST_TABS = 80
REPORT = """## Conclusion
The pod ran out of memory. Confidence: high

## Evidence
1. It ended with exit code 137 [T1 "exitCode: 137"].
"""


class Hands(Protocol):
    """A browser in front of which somebody sits who has no mouse."""

    async def open(self, url: str) -> None: ...
    async def ask(self, expression: str) -> object: ...
    async def wait_for(self, condition: str) -> None: ...
    async def press(self, key: str) -> None: ...
    async def activate(self) -> None: ...


class Chromium:
    def __init__(self, page: Page) -> None:
        self._page = page

    async def open(self, url: str) -> None:
        await self._page.goto(url)

    async def ask(self, expression: str) -> object:
        return await self._page.evaluate(expression)

    async def wait_for(self, condition: str) -> None:
        # Its own way of it evaluates a text in the page, which our policy forbids.
        for _ in range(10 * PATIENCE):
            # While another page comes there is nobody to ask.
            with suppress(Error):
                if await self.ask(f"Boolean({condition})"):
                    return
            await self._page.wait_for_timeout(100)
        raise AssertionError(f"not within {PATIENCE} s: {condition}")

    async def press(self, key: str) -> None:
        await self._page.keyboard.press(key)

    async def activate(self) -> None:
        await self.press("Enter")


@asynccontextmanager
async def sit_down(program: str, profile: Path) -> AsyncIterator[Hands]:
    if program == "firefox":
        path = find_firefox()
        if path is None:
            pytest.skip("NO FIREFOX HERE: apt-get install firefox-esr")
        async with open_firefox(path, profile) as firefox:
            yield firefox
        return
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("NO CHROMIUM HERE: make chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=list(LAUNCH_OPTIONS)
        )
        yield Chromium(await browser.new_page())
        await browser.close()


@pytest.fixture(autouse=True)
async def thread_lets_go_of_the_database():
    """Else the thread behind `sync_to_async` keeps its connection beyond the last test."""
    yield
    await sync_to_async(connections.close_all)()


@sync_to_async
def make_sessions():
    """One with a write that waits, and one that has ended."""
    UserFactory(username="ana", admin=True)
    running = SessionFactory(running=True)
    stage = StageFactory(session=running, active=True)
    execution = ExecutionFactory(stage=stage, active=True)
    ApprovalRequestFactory(execution=execution, risk="medium")
    ended = SessionFactory(completed=True, final_analysis=REPORT, alert_type="single")
    ended.chain_id = "single"
    ended.save()
    execution = ExecutionFactory(stage=StageFactory(session=ended, completed=True))
    add_tool_call(execution, 1, "a line\n" * 900 + "exitCode: 137, reason: OOMKilled")
    return running, ended


@sync_to_async
def read_statuses() -> list[str]:
    return list(ApprovalRequest.objects.values_list("status", flat=True))


@sync_to_async
def read_questions() -> list[str]:
    return list(ChatUserMessage.objects.values_list("content", flat=True))


async def write(hands: Hands, text: str) -> None:
    for character in text:
        await hands.press(character)


async def go_to(hands: Hands, selector: str) -> None:
    """By the Tab key, from where the focus is."""
    for _ in range(MOST_TABS):
        if await hands.ask(f"document.activeElement.matches({selector!r})"):
            return
        await hands.press("Tab")
    raise AssertionError(f"{MOST_TABS} tabs do not lead to {selector}")


@pytest.mark.parametrize("program", ["chromium", "firefox"])
async def test_keys_alone_sign_in_approve_read_the_evidence_and_ask(daphne, tmp_path, program):
    running, ended = await make_sessions()
    with daphne(TARSY_AUTH="login", CONFIG_DIR=str(CONFIG_DIR)) as server:
        base = f"http://127.0.0.1:{server.port}"
        async with sit_down(program, tmp_path) as hands:
            await hands.open(f"{base}/login/?next=/sessions/{running.pk}/")
            await go_to(hands, "#id_username")
            await write(hands, "ana")
            await hands.press("Tab")
            await write(hands, PASSWORD)
            await hands.press("Enter")

            await hands.wait_for("document.querySelector('.t-appr button[formaction*=approve]')")
            await go_to(hands, ".t-appr button[formaction*=approve]")
            await hands.activate()
            await hands.wait_for("document.querySelector('.t-decided--approved')")
            assert await read_statuses() == ["approved"]

            await hands.open(f"{base}/sessions/{ended.pk}/")
            await go_to(hands, ".t-claim a.t-ev")
            await hands.activate()
            await hands.wait_for(
                "document.querySelector('#evidence mark')?.textContent === 'exitCode: 137'"
            )
            await hands.press("Escape")
            await hands.wait_for("document.activeElement.matches('.t-claim a.t-ev')")

            await hands.press("c")
            await hands.wait_for("document.activeElement.matches('#question')")
            await write(hands, QUESTION)
            await hands.press("Enter")
            await hands.wait_for(
                f"document.querySelector('.t-stage--chat')?.textContent.includes('{QUESTION}')"
            )
            assert await read_questions() == [QUESTION]
