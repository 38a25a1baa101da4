"""Slack as the product speaks it, against a server that answers like Slack."""

from collections.abc import Iterator

import pytest

from investigations.notifications.messages import TEXT_LIMIT, Message, end_message, start_message
from investigations.notifications.slack import (
    HISTORY_MESSAGES,
    SlackChannel,
    SlackRefused,
    post,
)
from tests.slack_server import CHANNEL, TOKEN, SlackServer, run_slack_server

LINK = "https://tarsy.example.com/sessions/1/"
STARTED = start_message(title="PodCrashLooping", link=LINK)


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with run_slack_server() as server:
        yield server


async def send(
    slack: SlackServer,
    message: Message = STARTED,
    *,
    fingerprint: str = "",
    token: str = TOKEN,
    channel: str = CHANNEL,
    seconds: float = 10,
) -> str:
    to = SlackChannel(channel, token, slack.url)
    return await post(to, message, fingerprint=fingerprint, seconds=seconds)


def written(message: Message) -> str:
    return "\n".join(block["text"]["text"] for block in message.blocks)


async def test_without_a_fingerprint_it_goes_into_the_channel_and_nothing_is_searched(slack):
    assert await send(slack)

    assert slack.asked == []
    assert slack.posts == [
        {
            "channel": CHANNEL,
            "text": "Investigation started: PodCrashLooping",
            "blocks": list(STARTED.blocks),
            "unfurl_links": False,
            "unfurl_media": False,
        }
    ]


@pytest.mark.parametrize(
    "message",
    [
        {"text": "Fingerprint: ab12  cd"},
        {"text": "FINGERPRINT:\nAB12 cd, firing"},
        {"text": "", "attachments": [{"fallback": "fingerprint: ab12 cd"}]},
        {"text": "", "attachments": [{"fields": [{"value": "fingerprint: ab12 cd"}]}]},
        {"text": "", "blocks": [{"text": {"type": "mrkdwn", "text": "fingerprint: ab12 cd"}}]},
    ],
)
async def test_it_goes_into_the_thread_of_the_message_that_holds_the_fingerprint(slack, message):
    slack.add("something else")
    ts = slack.add(**message)

    await send(slack, fingerprint="fingerprint: ab12 cd")

    assert [posted.get("thread_ts") for posted in slack.posts] == [ts]


async def test_what_slack_has_escaped_is_found_as_it_was_sent(slack):
    ts = slack.add("cpu &gt; 90 &amp; rising")

    await send(slack, fingerprint="cpu > 90 & rising")

    assert slack.posts[0]["thread_ts"] == ts


async def test_a_message_that_is_in_a_thread_already_names_that_thread(slack):
    slack.add("ab12", thread_ts="1700000000.000001")

    await send(slack, fingerprint="ab12")

    assert slack.posts[0]["thread_ts"] == "1700000000.000001"


async def test_the_newest_of_several_is_taken_and_none_older_than_a_day(slack):
    slack.add("ab12", hours_ago=2)
    newest = slack.add("ab12", hours_ago=1)
    slack.add("old99", hours_ago=24.1)

    await send(slack, fingerprint="ab12")
    await send(slack, fingerprint="old99")

    assert [posted.get("thread_ts") for posted in slack.posts] == [newest, None]


async def test_a_thousand_messages_are_searched_and_no_more(slack):
    for number in range(HISTORY_MESSAGES + 50):
        slack.add(f"number {number:04d}.", hours_ago=1 + number / 1000)

    await send(slack, fingerprint="number 0999.")
    await send(slack, fingerprint="number 1000.")

    threads = [posted.get("thread_ts") for posted in slack.posts]
    assert threads[0] is not None
    assert threads[1] is None
    assert len(slack.asked) == 10


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, {"ok": False, "error": "missing_scope"}),
        (500, b"<html>oops</html>"),
        (200, b"not json"),
        (200, {"ok": True, "messages": "none"}),
        (200, {"ok": True, "messages": [5, {"text": ["ab12"]}], "response_metadata": []}),
    ],
)
async def test_a_search_that_fails_does_not_keep_the_message_back(slack, status, answer):
    slack.answers["conversations.history"] = [(status, answer, {})]

    await send(slack, fingerprint="ab12")

    assert len(slack.posts) == 1
    assert "thread_ts" not in slack.posts[0]


async def test_a_search_that_hangs_does_not_keep_the_message_back(slack):
    slack.hangs.add("conversations.history")

    await send(slack, fingerprint="ab12", seconds=3)

    assert len(slack.posts) == 1


async def test_a_slack_that_hangs_is_let_go_of(slack):
    slack.hangs.add("chat.postMessage")

    with pytest.raises(TimeoutError):
        await send(slack, seconds=0.3)


@pytest.mark.parametrize(
    ("given", "reason"),
    [({"token": "xoxb-wrong"}, "invalid_auth"), ({"channel": "C0NOWHERE"}, "channel_not_found")],
)
async def test_a_refusal_is_told_with_slacks_reason_and_without_the_token(slack, given, reason):
    with pytest.raises(SlackRefused, match=reason) as caught:
        await send(slack, **given)

    assert "xoxb" not in str(caught.value)
    assert TOKEN not in repr(SlackChannel(CHANNEL, TOKEN))


async def test_who_does_not_answer_is_a_refusal_too():
    with run_slack_server() as stopped:
        pass

    with pytest.raises(SlackRefused, match="ConnectError"):
        await send(stopped)


async def test_too_many_requests_are_waited_for_and_asked_once_more(slack):
    busy = (429, {"ok": False, "error": "ratelimited"}, {"retry-after": "0"})
    slack.answers["chat.postMessage"] = [busy]

    await send(slack)

    assert len(slack.posts) == 1
    slack.answers["chat.postMessage"] = [busy, busy]
    with pytest.raises(SlackRefused, match="429"):
        await send(slack)


async def test_too_many_requests_are_not_waited_for_longer_than_there_is_time(slack):
    slack.answers["chat.postMessage"] = [(429, {}, {"retry-after": "3600"})]

    with pytest.raises(TimeoutError):
        await send(slack, seconds=0.3)


async def test_an_endless_answer_is_cut(slack):
    slack.answers["chat.postMessage"] = [(200, b"x" * (9 * 1024 * 1024), {})]

    with pytest.raises(SlackRefused, match="more than"):
        await send(slack)


@pytest.mark.parametrize("status", ["completed", "failed", "timed_out", "cancelled"])
def test_an_end_says_how_it_ended_what_came_of_it_and_where_to_look(status):
    message = end_message(status=status, title="Disk full", detail="The log grew.", link=LINK)

    assert status.replace("_", " ") in message.text
    assert "Disk full" in message.text
    assert [block["type"] for block in message.blocks] == ["section"] * 3
    assert "The log grew." in written(message)
    assert f"<{LINK}|Open in TARSy>" in written(message)


def test_an_end_without_details_has_no_empty_block():
    assert len(end_message(status="cancelled", title="x", detail=" \n", link=LINK).blocks) == 2


@pytest.mark.parametrize("character", ["a", "&", "\N{PILE OF POO}"])
def test_long_texts_are_cut_below_what_slack_takes_and_never_inside_a_character(character):
    detail = character * 5000
    message = end_message(status="completed", title=detail, detail=detail, link=LINK)

    texts = [block["text"]["text"] for block in message.blocks]
    assert all(len(text) <= TEXT_LIMIT for text in texts)
    assert texts[1].endswith("…")
    assert len(texts[1]) > TEXT_LIMIT - 20
    assert "&am…" not in texts[1]


def test_a_text_that_just_fits_is_whole():
    detail = "a" * TEXT_LIMIT

    assert detail in written(end_message(status="failed", title="x", detail=detail, link=LINK))


def test_text_from_outside_can_neither_mention_nor_link_nor_hide():
    hostile = "<!channel> <https://evil.example|Open in TARSy> <@U1> \u202egpj.exe"

    message = end_message(status="failed", title=hostile, detail=hostile, link=LINK)

    assert "<!" not in written(message) + message.text
    assert "<@" not in written(message) + message.text
    assert "\u202e" not in written(message) + message.text
    assert written(message).count("<http") == 1
    assert all(block["text"]["verbatim"] for block in message.blocks)
