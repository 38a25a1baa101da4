"""Stories that the product plays itself: a real worker runs them, with its gate and its reviews.

A rehearsal script speaks for the model and `tool_server.py` for the machines. Everything else on
the pictures is what came of it, so nothing here says how a session ends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User

from agents.rehearsal.loading import load_scripts
from agents.types import JSON
from investigations.models import AlertSession, ApprovalRequest
from investigations.services.approvals import decide_approval
from investigations.services.deliveries import read_delivery, take_delivery
from investigations.services.intake import read_alert, submit_alert
from investigations.sources import reading
from tests.processes import Process, start_worker, wait_for
from tests.rehearsal_server import start_rehearsal

WITHIN = 90.0
"""Seconds for a session to get to where its play ends."""
_SENDER = "Alertmanager"


@dataclass(frozen=True)
class Alert:
    """An alert by itself."""

    data: Mapping[str, JSON]


@dataclass(frozen=True)
class Post:
    """A post of an alert source; its alerts become members of one incident."""

    source: str
    body: dict[str, reading.JSON]


@dataclass(frozen=True)
class Play:
    """A session of a chain that takes this type of alert.

    Of the writes it asks for, the first `approvals` are approved. Where `is_left_waiting`, its play
    ends with the request after these.
    """

    alert_type: str
    about: Alert | Post
    approvals: int = 0
    is_left_waiting: bool = False


@contextmanager
def running(scripts: Sequence[Path], port: int, pace: float | None = None) -> Iterator[Process]:
    """A worker, and at this port the model that the scripts speak for.

    The worker is killed at the end: what waits for a person then goes on waiting, as it would with
    a worker that lives.
    """
    with start_rehearsal(load_scripts(scripts), port=port, pace=pace):
        worker = start_worker(LOG_LEVEL="INFO")
        try:
            worker.wait_until_ready()
            yield worker
        finally:
            worker.kill()


def begin(play: Play) -> AlertSession:
    if isinstance(play.about, Alert):
        body = {"alert_type": play.alert_type, "data": dict(play.about.data)}
        return submit_alert(read_alert(body), author=_SENDER)
    post = reading.Post(play.about.body)
    taken = take_delivery(
        read_delivery(post, play.about.source),
        body=post.body, author=_SENDER, alert_type=play.alert_type,
    )  # fmt: skip
    if taken.session is None:
        raise AssertionError(f"the post began no session: {taken.message}")
    return taken.session


def follow(play: Play, session: AlertSession, approver: User) -> AlertSession:
    """Decide about what the session asks for, until its play has ended."""
    for _ in range(play.approvals):
        request = _wait_for_request(session)
        decide_approval(request.pk, "approved", account=approver, actor=approver.username)
    if play.is_left_waiting:
        _wait_for_request(session)
    else:
        wait_for(lambda: _is_over(session), within=WITHIN, what=f"the end of {session.title!r}")
    session.refresh_from_db()
    return session


def _wait_for_request(session: AlertSession) -> ApprovalRequest:
    def find() -> ApprovalRequest | None:
        pending = ApprovalRequest.Status.PENDING
        return ApprovalRequest.objects.filter(session=session, status=pending).first()

    found = wait_for(find, within=WITHIN, what=f"a request of {session.title!r}")
    assert found is not None
    return found


def _is_over(session: AlertSession) -> bool:
    session.refresh_from_db()
    return session.is_terminal


def play_all(plays: Mapping[str, Play], approver: User) -> Iterable[tuple[str, AlertSession]]:
    """Begin all of them at once; each by its name, where its play has ended."""
    begun = {name: begin(play) for name, play in plays.items()}
    for name, session in begun.items():
        yield name, follow(plays[name], session, approver)
