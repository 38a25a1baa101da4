"""Who is told of an investigation outside the product: when, where, and with which words."""

import asyncio
import logging
import uuid
from dataclasses import dataclass
from typing import Literal, cast

from django.conf import settings

from config import environment, get_config
from investigations.maskers import product_masker
from investigations.models import AlertSession
from investigations.notifications.messages import End, Message, end_message, start_message
from investigations.notifications.slack import SlackChannel, SlackRefused, post
from investigations.queue import enqueue_notice
from investigations.rendering.state_colours import look_of
from investigations.selectors.claims import judge_report
from investigations.selectors.open_writes import read_writes_to_tell, state_of
from investigations.selectors.outcomes import still_fires
from investigations.selectors.reports import list_our_lines
from investigations.selectors.sessions import visible_sessions

logger = logging.getLogger(__name__)

START_SECONDS = 5.0
END_SECONDS = 10.0

_MOST_MASKED = 20_000
"""Characters; far more than a message shows, far less than a report may have."""

Moment = Literal["start", "end"]


@dataclass(frozen=True)
class Notice:
    """A message that is ready to be sent."""

    session_id: uuid.UUID
    channel: SlackChannel
    message: Message
    fingerprint: str
    seconds: float


def announce_start(session: AlertSession) -> None:
    """Tell of a start once this commits, if the alert came with a message to answer to."""
    if session.slack_message_fingerprint and get_config().system.slack.enabled:
        enqueue_notice(session.pk, "start")


def announce_end(session: AlertSession) -> None:
    """Tell of an end once this commits."""
    if get_config().system.slack.enabled:
        enqueue_notice(session.pk, "end")


def read_notice(session_id: uuid.UUID, moment: Moment) -> Notice | None:
    """What is to be sent; None when there is nothing (any more) to say, or nowhere to say it."""
    slack = get_config().system.slack
    token = environment().get(slack.token_env, "").strip()
    session = visible_sessions().filter(pk=session_id).defer("alert_data").first()
    if not slack.enabled or session is None:
        return None
    if not token:
        logger.warning("Slack is not told: %s is not set in this process", slack.token_env)
        return None
    # What is old news by now need not be told, and what has not happened must not be.
    if session.is_terminal != (moment == "end"):
        return None
    return Notice(
        session_id=session.pk,
        channel=SlackChannel(slack.channel, token, settings.SLACK_API_URL),
        message=_message(session),
        fingerprint=session.slack_message_fingerprint,
        seconds=END_SECONDS if moment == "end" else START_SECONDS,
    )


def send_notice(notice: Notice) -> None:
    """Send it. What goes wrong is logged and concerns nobody else: no investigation waits for it.

    It is not tried again: a message that may have been posted is not posted twice.
    """
    try:
        asyncio.run(
            post(
                notice.channel,
                notice.message,
                fingerprint=notice.fingerprint,
                seconds=notice.seconds,
            )
        )
    except SlackRefused as error:
        logger.warning("Slack was not told of session %s: %s", notice.session_id, error)
    except TimeoutError:
        logger.warning(
            "Slack was not told of session %s: no answer within %g s",
            notice.session_id,
            notice.seconds,
        )


def _message(session: AlertSession) -> Message:
    link = f"{settings.DASHBOARD_URL.rstrip('/')}/sessions/{session.pk}/"
    title = session.title or session.alert_type
    if not session.is_terminal:
        return start_message(title=title, link=link)
    # It leaves the house: masked once more, whoever wrote it.
    detail = product_masker()(outcome_of(session)[:_MOST_MASKED])
    return end_message(
        status=cast(End, session.status), title=title, detail=detail, link=link,
        doubt=_doubt_of(session),
    )  # fmt: skip


def _doubt_of(session: AlertSession) -> str:
    """What is not well although the investigation completed, as a page's status says it."""
    writes = read_writes_to_tell(session.pk, session.final_analysis)
    state = state_of(session, writes)
    words = [] if state == session.status else [look_of(state)[2].lower()]
    if writes.open_writes and still_fires(session):
        words.append("the alert still fires")
    return ", ".join(words)


def outcome_of(session: AlertSession) -> str:
    """What a message about an end says of what was found, or why there is nothing."""
    if session.status == AlertSession.Status.COMPLETED:
        text = session.executive_summary or session.final_analysis
        counts = judge_report(session.pk, session.final_analysis).counts
        return f"Claims: {counts.words}.\n\n{text}" if session.final_analysis else text
    return "\n\n".join((*list_our_lines(session.pk), session.error_message))
