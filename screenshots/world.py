"""The people and sessions of the pictures. Running ones stay at the moment their story ends."""

import tempfile
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import Group, User
from django.db import connections
from django.urls import reverse

from agents.rehearsal.loading import PROVIDER_CHECK_SCRIPT, load_script
from investigations.engine.provider_checks import check_for_page
from investigations.models import AlertSession
from investigations.services.incidents.windows import WindowRequest, open_window
from investigations.services.provider_checks import ask_for_check
from screenshots.clock import shift
from screenshots.player import play_all, running
from screenshots.presence import tell_presence
from screenshots.sights import Sight
from screenshots.stories import live, past, payments, proofs, repairs
from screenshots.teller import tell
from tests.rehearsal_server import start_rehearsal

PERSON = "ana"
PASSWORD = "only for the pictures"
GATEWAY = "team-gateway"
"""The model that is checked. Its servers speak as those of llama.cpp."""


class World:
    """What the pages show."""

    def __init__(self) -> None:
        self._sessions: dict[str, uuid.UUID] = {}
        self._seen_at = datetime.now(UTC)

    def make_people(self) -> None:
        User.objects.create_superuser(PERSON, "ana@example.com", PASSWORD)
        ben = User.objects.create_user("ben", "ben@example.com", PASSWORD)
        ben.groups.add(Group.objects.get(name="approver"))
        tell_presence()

    def play_sessions(self, port: int, pace: float | None = None) -> None:
        """Have a worker run those that are played, with the model at this port.

        Before all others, which it would run as well.
        """
        approver = User.objects.get(username=PERSON)
        with (
            tempfile.TemporaryDirectory(prefix="shop-", dir="/var/tmp") as folder,
            running((repairs.SCRIPT, proofs.SCRIPT), port, pace),
        ):
            plays = {**proofs.ALL, **repairs.write_plays(Path(folder))}
            for name, session in play_all(plays, approver):
                self._sessions[name] = session.pk

    def make_sessions(self) -> None:
        for story in past.ALL:
            session = tell(story)
            self._sessions[session.status] = session.pk
        self._sessions["finished"] = tell(payments.FINISHED).pk
        self._sessions["running"] = tell(live.RUNNING).pk
        for story in live.QUEUED:
            tell(story)
        self._open_windows()
        self._seen_at = datetime.now(UTC)

    def check_models(self, port: int) -> None:
        """As a worker does it, with a script for the model behind the gateway."""
        tell_presence()
        ask_for_check(GATEWAY, PERSON)
        with start_rehearsal(load_script(PROVIDER_CHECK_SCRIPT), port=port, pace=0):
            check_for_page(GATEWAY, lambda: False)

    def find(self, sight: Sight) -> str:
        """The address of a sight, whose session is as its story left it."""
        self._hold_time()
        arguments = [self._sessions[sight.session]] if sight.session else []
        return f"{reverse(sight.view, args=arguments)}{sight.after}"

    def _open_windows(self) -> None:
        """One that is open and one that is to come; what fires in the stories matches neither."""
        now = datetime.now(UTC)
        for name, matchers, begins in (
            ("Upgrade of the staging cluster", ('cluster="staging-eu-1"',), timedelta()),
            ("Move of db-7", ('instance="db-7"', "severity!=critical"), timedelta(days=2)),
        ):
            ends = now + begins + timedelta(hours=3)
            open_window(WindowRequest(name, matchers, now + begins, ends), PERSON)

    def leave(self) -> None:
        connections.close_all()

    def _hold_time(self) -> None:
        """Move what is not over by as much as time has passed."""
        now = datetime.now(UTC)
        open_ones = AlertSession.objects.exclude(status__in=AlertSession.TERMINAL)
        for session_id in open_ones.values_list("pk", flat=True):
            shift(session_id, now - self._seen_at)
        self._seen_at = now
        tell_presence()
