"""What the terminal of `make demo` is told while everything runs: what waits for a person, and what
each investigation has come to."""

import time
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime

from django.db import Error, connections
from django.utils import timezone

from investigations.models import ApprovalRequest
from investigations.rendering.state_colours import look_of
from investigations.selectors.session_list.needs import read_waiting
from investigations.selectors.session_list.rows import OutcomeRow, read_ended_since
from masking.visible_text import clean_line

EVERY = 1.0
_TITLE = 120


class News:
    """Everything once, from the moment on at which this was made.

    `read_login_link` gives what logs in whoever has to decide; nothing once somebody has.
    """

    def __init__(self, url: str, read_login_link: Callable[[], str] = str) -> None:
        self._url = url
        self._read_login_link = read_login_link
        self._since: datetime = timezone.now()
        self._told: set[uuid.UUID] = set()
        self._firing: set[uuid.UUID] = set()

    def read(self) -> Iterator[str]:
        """The lines that are new."""
        for approval in read_waiting():
            if approval.pk not in self._told:
                self._told.add(approval.pk)
                yield from self._tell_approval(approval)
        for row in read_ended_since(self._since):
            if row.session.pk not in self._told:
                self._told.add(row.session.pk)
                yield from self._tell_outcome(row)
            elif row.session.pk in self._firing and not row.still_fires:
                self._firing.discard(row.session.pk)
                yield f"The alert is over: {_title_of(row)}"

    def _tell_approval(self, approval: ApprovalRequest) -> Iterator[str]:
        target = f" on {approval.target}" if approval.target else ""
        asked = f"{approval.server_name}.{approval.tool_name}{target}"
        yield f"Waits for you: {clean_line(asked, _TITLE)}"
        if link := self._read_login_link():
            yield f"Log in first: {link}"
        yield f"{self._url}/sessions/{approval.session_id}/"

    def _tell_outcome(self, row: OutcomeRow) -> Iterator[str]:
        if row.still_fires:
            self._firing.add(row.session.pk)
        yield f"{look_of(row.state)[2]}{_say_alerts(row)}: {_title_of(row)}"
        # All of it: that a repair did not run stands at the end.
        yield f"  {clean_line(row.line, len(row.line))}"
        yield f"{self._url}/sessions/{row.session.pk}/"


def _say_alerts(row: OutcomeRow) -> str:
    """How its alerts are, as far as anybody tells. What fired before a repair says nothing of it:
    its source has yet to look again."""
    if row.is_over:
        return ", and the alert is over"
    if not row.still_fires:
        return ""
    if row.is_repaired:
        return ", waiting to hear that the alert is over"
    return ", and the alert still fires"


def _title_of(row: OutcomeRow) -> str:
    return clean_line(row.session.title or row.session.alert_type, _TITLE)


def tell_news(news: News, say: Callable[[str], None]) -> None:
    """Say what happens, for ever. A database that is away is asked again."""
    while True:
        try:
            for line in news.read():
                say(line)
        except Error:
            connections.close_all()
        time.sleep(EVERY)
