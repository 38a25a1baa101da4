"""The stream over a real Daphne: every event once, in order, whatever breaks between."""

import asyncio
import json
import uuid
from contextlib import suppress

import psutil
import pytest
from asgiref.sync import sync_to_async
from django.db import connections, transaction
from django.utils import timezone
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from investigations.doorbell import publish, stream_channel
from investigations.engine.journal import MAX_PROGRESS, ExecutionJournal
from investigations.maskers import product_masker
from investigations.models import ApiToken, Event, TimelineEvent
from investigations.selectors.session_page.live_text import read_live_texts
from investigations.services.ledger import session_write
from investigations.services.tokens import create_token
from investigations.stream_messages import (
    SESSIONS_CHANNEL,
    session_channel,
    session_status,
    stream_chunk,
    tool_event_id,
)
from tarsy.aio import worker_loop
from tests.factories import ExecutionFactory, SessionFactory, TimelineEventFactory, UserFactory
from tests.investigations.streaming.conftest import PATIENCE, browse, cut_subscriptions, until

pytestmark = pytest.mark.django_db(transaction=True)


def tell(session, count: int = 1) -> None:
    """Store and publish `count` messages, each in a transaction of its own."""
    for number in range(count):
        with session_write(session.pk) as write:
            write.tell(session_status(session.pk, "in_progress", number=number))


def tell_silently(session, count: int = 1) -> None:
    """Store messages whose doorbell is lost."""
    session.refresh_from_db()
    for _ in range(count):
        session.last_seq += 1
        payload = session_status(session.pk, "in_progress")
        Event.objects.create(
            session=session,
            seq=session.last_seq,
            channel=session_channel(session.pk),
            payload=payload,
        )
        session.save(update_fields=["last_seq"])


@pytest.fixture(autouse=True)
async def thread_lets_go_of_the_database():
    """Else the thread behind `sync_to_async` keeps its connection beyond the last test."""
    yield
    await sync_to_async(connections.close_all)()


make_session = sync_to_async(lambda **state: SessionFactory(running=True, **state))
atell = sync_to_async(tell)
atell_silently = sync_to_async(tell_silently)


async def follow(browser, session, **options) -> None:
    await browser.say(action="subscribe", channel=session_channel(session.pk), **options)
    confirmations = len(browser.of_type("subscription.confirmed"))
    await browser.sees("subscription.confirmed", confirmations + 1)


async def test_socket_greets_answers_pings_and_ignores_nonsense(server):
    async with browse(server) as browser:
        await browser.sees("connection.established")
        for nonsense in ("{", "[]", "7", '{"action": "dance"}', "[" * 5000, b"\xff\x00"):
            await browser.socket.send(nonsense)
        await browser.say(action="ping")

        await browser.sees("pong")

        assert [message["type"] for message in browser.seen] == ["connection.established", "pong"]


async def test_subscriber_gets_the_past_then_the_present(server):
    session = await make_session()
    await atell(session, 3)
    async with browse(server) as browser:
        await follow(browser, session)
        await atell(session, 3)

        await until(lambda: len(browser.seqs()) >= 6)

        assert browser.seqs() == [1, 2, 3, 4, 5, 6]
        kinds = [message["type"] for message in browser.seen]
        assert kinds[:2] == ["connection.established", "subscription.confirmed"]


async def test_browser_cut_off_twice_sees_each_event_once_in_order(server):
    session = await make_session()
    writing = asyncio.create_task(atell(session, 120))
    seen: list[int] = []
    for _ in range(2):
        async with browse(server) as browser:
            await follow(browser, session, last_event_id=seen[-1] if seen else 0)
            await browser.has_stored(30)
            browser.socket.transport.abort()
        seen += browser.seqs()
    async with browse(server) as browser:
        await follow(browser, session, last_event_id=seen[-1])
        await writing
        await browser.has_stored(120 - len(seen))
        seen += browser.seqs()

    assert seen == list(range(1, 121))


async def test_lost_doorbells_are_found_by_the_heartbeat(server):
    session = await make_session()
    async with browse(server) as browser:
        await follow(browser, session)
        await atell_silently(session, 5)

        await until(lambda: len(browser.seqs()) >= 5)

        assert browser.seqs() == [1, 2, 3, 4, 5]


async def test_gap_and_repetition_on_the_wire_do_not_reach_the_browser(server):
    session = await make_session()
    async with browse(server) as browser:
        await follow(browser, session)
        await atell(session, 2)
        await atell_silently(session, 2)
        await atell(session, 2)
        for payload in [message for message in browser.seen if "db_event_id" in message]:
            await sync_to_async(publish)([(session_channel(session.pk), json.dumps(payload))])
        await atell(session, 1)

        await until(lambda: len(browser.seqs()) >= 7)

        assert browser.seqs() == [1, 2, 3, 4, 5, 6, 7]


async def test_killed_subscription_is_renewed_and_nothing_is_lost(server, doorbell):
    session = await make_session()
    async with browse(server) as browser:
        await follow(browser, session)
        await browser.say(action="subscribe", channel=SESSIONS_CHANNEL)
        await browser.sees("subscription.confirmed", 2)
        await atell(session, 2)
        assert cut_subscriptions(doorbell, session_channel(session.pk)) >= 1
        await atell(session, 3)
        await until(lambda: len(browser.seqs()) >= 5)
        await atell(session, 2)

        await until(lambda: len(browser.seqs()) >= 7)

        assert browser.seqs() == [1, 2, 3, 4, 5, 6, 7]
        # Lists have no history: their page must load itself again.
        assert (await browser.sees("catchup.overflow"))["channel"] == SESSIONS_CHANNEL


async def test_two_sessions_and_the_list_share_one_socket(server):
    one, two = await make_session(), await make_session()
    async with browse(server) as browser:
        await follow(browser, one)
        await follow(browser, two)
        await browser.say(action="subscribe", channel=SESSIONS_CHANNEL)
        await browser.sees("subscription.confirmed", 3)
        await asyncio.gather(atell(one, 20), atell(two, 20))
        told = {"type": "session.status", "session_id": "x", "status": "pending"}
        await sync_to_async(publish)([(SESSIONS_CHANNEL, json.dumps(told))])

        await until(lambda: len(browser.seqs()) >= 40 and told in browser.seen)

        assert browser.seqs(one.pk) == browser.seqs(two.pk) == list(range(1, 21))


async def test_unsubscribed_channel_is_silent(server, doorbell):
    one, two = await make_session(), await make_session()
    async with browse(server) as browser:
        await follow(browser, one)
        await follow(browser, two)
        await browser.say(action="unsubscribe", channel=session_channel(one.pk))
        subscribers = stream_channel(session_channel(one.pk))
        await until(lambda: doorbell.pubsub_numsub(subscribers)[0][1] == 0)
        await atell(one, 3)
        await atell(two, 3)

        await until(lambda: len(browser.seqs()) >= 3)

        assert browser.seqs(one.pk) == []


@pytest.mark.parametrize(
    "channel",
    [
        "cancellations",
        "session:",
        "session:nope",
        "session:4b1d7a52-0000-4000-8000-000000000000",
        "tarsy:ring",
        "*",
    ],
)
async def test_bad_channels_are_refused(server, channel):
    async with browse(server) as browser:
        await browser.say(action="subscribe", channel=channel)

        error = await browser.sees("subscription.error")

        assert error["channel"] == channel
        assert "session" in error["message"]


async def test_a_client_that_is_ahead_of_the_stream_follows_from_its_head(server):
    session = await make_session()
    await atell(session, 2)
    async with browse(server) as browser:
        await follow(browser, session, last_event_id=99)
        await atell(session, 2)

        await browser.has_stored(2)

        assert browser.seqs() == [3, 4]


async def test_a_session_in_another_spelling_is_no_channel_as_nobody_sends_there(server):
    session = await make_session()
    async with browse(server) as browser:
        await browser.say(action="subscribe", channel=f"session:{session.pk.hex}")

        error = await browser.sees("subscription.error")

        assert "no such channel" in error["message"]


async def test_subscription_needs_a_channel_and_a_sensible_position(server):
    session = await make_session()
    async with browse(server) as browser:
        await browser.say(action="subscribe")
        await browser.say(action="subscribe", channel=["sessions"])
        await browser.sees("error", 2)

        for position in (-1, "5", 1.5, True, 2**70):
            await browser.say(
                action="subscribe", channel=session_channel(session.pk), last_event_id=position
            )
        await browser.sees("subscription.error", 5)

        assert not browser.of_type("subscription.confirmed")


async def test_catchup_without_a_subscription_replays_once_and_follows_nothing(server):
    session = await make_session()
    await atell_silently(session, 3)
    channel = session_channel(session.pk)
    async with browse(server) as browser:
        await browser.say(action="catchup", channel=channel, last_event_id=1)
        await browser.has_stored(2)
        await atell(session, 1)
        await browser.say(action="catchup", channel="cancellations", last_event_id=0)
        await browser.say(action="catchup", channel=channel)
        await browser.sees("error", 2)

        assert browser.seqs() == [2, 3]
        assert "no such channel" in browser.of_type("error")[0]["message"]
        assert "last_event_id" in browser.of_type("error")[1]["message"]


async def test_long_past_overflows_and_the_present_goes_on(server):
    session = await make_session()
    await atell_silently(session, 203)
    async with browse(server) as browser:
        await follow(browser, session)
        overflow = await browser.sees("catchup.overflow")
        await atell(session, 1)
        await until(lambda: 204 in browser.seqs())

        assert overflow["has_more"] is True
        assert browser.seqs() == [*range(1, 201), 204]

        await browser.say(action="catchup", channel=session_channel(session.pk), last_event_id=200)
        await until(lambda: len(browser.seqs()) >= 205)
        assert browser.seqs()[201:] == [201, 202, 203, 204]


async def test_past_that_retention_removed_overflows(server):
    session = await make_session()
    await atell_silently(session, 5)
    await sync_to_async(Event.objects.filter(seq__lte=3).delete)()
    async with browse(server) as browser:
        await follow(browser, session)
        await browser.sees("catchup.overflow")
        await atell(session, 1)

        await until(lambda: 6 in browser.seqs())

        assert browser.seqs() == [4, 5, 6]


async def test_chunk_never_overtakes_the_announcement_of_its_block(server):
    execution = await sync_to_async(ExecutionFactory)(active=True)
    session = execution.session

    @transaction.atomic
    def open_block_silently():
        tell_silently(session, 1)
        event = TimelineEventFactory(execution=execution, streaming=True, sequence_number=1)
        Event.objects.update(
            payload={
                **session_status(session.pk, "x"),
                "type": "timeline_event.created",
                "event_id": str(event.pk),
                "status": "streaming",
            }
        )
        return event

    async with browse(server) as browser:
        await follow(browser, session)
        event = await sync_to_async(open_block_silently)()
        unknown = stream_chunk(execution, str(uuid.uuid4()), 0, "lost")
        chunk = stream_chunk(execution, str(event.pk), 0, "The pod")
        await sync_to_async(publish)(
            [(session_channel(session.pk), json.dumps(each)) for each in (unknown, chunk)]
        )

        await browser.sees("stream.chunk")

        kinds = [message["type"] for message in browser.seen][2:]
        assert kinds == ["timeline_event.created", "stream.chunk"]
        assert browser.of_type("stream.chunk")[0]["delta"] == "The pod"


async def test_a_page_gets_markdown_that_is_being_written_as_blocks(server):
    execution = await sync_to_async(ExecutionFactory)(active=True)
    event = await sync_to_async(TimelineEventFactory)(
        execution=execution, event_type="llm_response", streaming=True, sequence_number=1
    )
    journal = ExecutionJournal(execution, worker_loop(), product_masker())

    async with browse(server) as page, browse(server) as plain:
        await follow(page, execution.session, format="html")
        await follow(plain, execution.session)
        journal._show(str(event.pk), 0, "## Conclusion\n\n<b>It</b> is **full")

        chunk = await page.sees("stream.chunk")
        blocks = chunk["blocks"]
        assert blocks["first"] == 0
        assert blocks["html"][0] == "<h2>Conclusion</h2>"
        assert "&lt;b&gt;It&lt;/b&gt; is <strong>full" in blocks["html"][1]
        assert "blocks" not in await plain.sees("stream.chunk")


async def test_html_comes_with_stored_messages_only_when_asked_for(server):
    session = await make_session()
    await atell(session)
    async with browse(server) as plain, browse(server) as page:
        await follow(plain, session)
        await follow(page, session, format="html")

        assert "html" not in await plain.sees("session.status")
        assert "<" in (await page.sees("session.status"))["html"]


async def test_silent_socket_is_closed_and_a_pinging_one_is_not(daphne):
    with daphne(TARSY_STREAM_SILENCE_SECONDS="2") as server:
        async with browse(server) as silent, browse(server) as lively:
            while silent.close_code is None:
                await lively.say(action="ping")
                await lively.sees("pong", len(lively.of_type("pong")) + 1)

            assert silent.close_code == 4408
            assert lively.close_code is None


async def test_socket_that_reads_nothing_is_closed_and_its_neighbour_is_well(daphne):
    session = await make_session()
    big = "x" * 100_000

    def flood():
        payload = {"type": "execution.progress", "session_id": "x", "message": big}
        for _ in range(40):
            publish([(session_channel(session.pk), json.dumps(payload))] * 10)

    with daphne(TARSY_STREAM_SILENCE_SECONDS="6") as server:
        async with browse(server) as neighbour:
            await follow(neighbour, session)
            deaf, port = await _subscribe_and_stop_reading(server, session)
            memory_before = _memory_mb(server)
            await sync_to_async(flood)()
            await atell(session, 3)

            await until(lambda: len(neighbour.seqs()) >= 3)
            await until(lambda: not _holds(server, port), seconds=40)
            deaf.close()

            assert neighbour.seqs() == [1, 2, 3]
            assert _memory_mb(server) < memory_before + 30


async def _subscribe_and_stop_reading(server, session):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=2**10)
    writer.write(
        b"GET /api/v1/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        b"Sec-WebSocket-Version: 13\r\n\r\n"
    )
    await reader.readuntil(b"\r\n\r\n")
    text = json.dumps({"action": "subscribe", "channel": session_channel(session.pk)}).encode()
    writer.write(bytes([0x81, 0x80 | len(text)]) + bytes(4) + text)
    await writer.drain()
    while b"subscription.confirmed" not in await reader.read(2**10):
        pass
    return writer, writer.get_extra_info("sockname")[1]


def _holds(server, port: int) -> bool:
    """Whether the server still has the connection from a port of ours."""
    connections = psutil.Process(server.process.pid).net_connections("tcp")
    return any(c.raddr and c.raddr.port == port and c.status == "ESTABLISHED" for c in connections)


def _memory_mb(server) -> float:
    return psutil.Process(server.process.pid).memory_info().rss / 2**20


async def test_overlong_message_closes_the_socket(server):
    async with browse(server) as browser:
        await browser.socket.send('{"action": "ping", "x": "' + "x" * 70_000 + '"}')

        await until(lambda: browser.close_code)

        assert browser.close_code == 4400


async def test_other_paths_and_other_sites_are_refused(server):
    for url, origin in [
        (server.url, Origin("https://evil.example")),
        (server.url, Origin("null")),
        (server.url, Origin(f"http://127.0.0.1.evil.example:{server.port}")),
        (server.url.replace("/ws", "/other"), None),
    ]:
        with pytest.raises(InvalidStatus) as refused:
            await connect(url, origin=origin)
        assert refused.value.response.status_code == 403

    async with browse(server, origin=f"http://127.0.0.1:{server.port}") as browser:
        await browser.sees("connection.established")


async def test_listed_origins_are_welcome(daphne):
    with daphne(ALLOWED_WS_ORIGINS="https://*.ops.example,*") as server:
        async with browse(server, origin="https://wall.ops.example") as browser:
            await browser.sees("connection.established")
        with pytest.raises(InvalidStatus):
            await connect(server.url, origin=Origin("https://evil.example"))


async def test_socket_needs_an_identity_and_loses_it_with_its_token(daphne):
    token = await sync_to_async(_make_token)()
    header = {"Authorization": f"Bearer {token}"}
    with daphne(TARSY_AUTH="login", TARSY_STREAM_SILENCE_SECONDS="2") as server:
        async with browse(server) as stranger:
            await until(lambda: stranger.close_code)
            assert (stranger.close_code, stranger.seen) == (4401, [])
        async with browse(server, additional_headers=header) as machine:
            await machine.sees("connection.established")
            await sync_to_async(ApiToken.objects.update)(revoked_at=timezone.now())
            while machine.close_code is None:
                with suppress(ConnectionClosed):
                    await machine.say(action="ping")
                await asyncio.sleep(0.1)
            assert machine.close_code == 4401


def _make_token(*scopes: str) -> str:
    owner = UserFactory.create()
    return create_token(owner=owner, name="wall", actor="test", scopes=scopes or ["read"])


@pytest.mark.parametrize("scope", ApiToken.Scope.values)
async def test_a_token_without_the_scope_to_read_is_told_nothing(daphne, scope):
    token = await sync_to_async(_make_token)(scope)
    header = {"Authorization": f"Bearer {token}"}
    with daphne(TARSY_AUTH="login") as server:
        async with browse(server, additional_headers=header) as machine:
            if scope == "read":
                await machine.sees("connection.established")
            else:
                await until(lambda: machine.close_code)
                assert (machine.close_code, machine.seen) == (4401, [])


async def test_too_many_sockets_of_one_source_are_refused_until_one_leaves(daphne):
    with daphne(TARSY_STREAM_MOST_SOCKETS="2") as server:
        async with browse(server) as first:
            await first.sees("connection.established")
            async with browse(server) as second:
                await second.sees("connection.established")
                async with browse(server) as third:
                    await until(lambda: third.close_code)
                    assert (third.close_code, third.seen) == (4429, [])
            async with asyncio.timeout(PATIENCE):
                while not await _is_let_in(server):
                    pass  # The server learns a moment later than its client that one has left.


async def _is_let_in(server) -> bool:
    async with browse(server) as browser:
        await until(lambda: browser.seen or browser.close_code)
        return bool(browser.seen)


async def test_progress_of_a_tool_call_is_told_on_its_event(server):
    execution = await sync_to_async(ExecutionFactory)(active=True)
    call = tool_event_id(execution.pk, 3)
    journal = ExecutionJournal(execution, worker_loop(), product_masker())
    await sync_to_async(TimelineEventFactory)(
        pk=call,
        execution=execution,
        event_type="llm_tool_call",
        streaming=True,
        sequence_number=1,
    )

    async with browse(server) as browser:
        await follow(browser, execution.session)
        journal.report_tool_progress(3, "half way")
        journal.report_tool_progress(3, "x" * MAX_PROGRESS)
        journal.report_tool_progress(3, "too much")
        journal.report_tool_progress(4, "of a call that is not there")
        journal.report_progress("gathering_info", "the end")

        await browser.sees("execution.progress")

        chunks = browser.of_type("stream.chunk")
        assert [(chunk["event_id"], chunk["offset"]) for chunk in chunks] == [
            (str(call), 0),
            (str(call), 9),
        ]
        assert chunks[0]["delta"] == "half way\n"
    event = await TimelineEvent.objects.aget(pk=call)
    assert read_live_texts([event])[call].startswith("half way\nxxx")
