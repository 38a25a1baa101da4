"""A demo that is started again has another shop: nothing of the one before is done to it."""

import pytest

from investigations.models import AlertSession, Stage
from tarsy.demo import AUTHOR, SHOP_IS_GONE, cancel_what_is_left
from tests.factories import ApprovalRequestFactory, ExecutionFactory, SessionFactory, StageFactory

pytestmark = pytest.mark.django_db
TITLE = "ShopCheckFailing: Customers cannot order in the shop"


def _wait_for_approval(session: AlertSession):
    """As Ctrl-C leaves it: the agent is handed back, and its request stands."""
    stage = StageFactory(session=session, status=Stage.Status.ACTIVE, active=True)
    return ApprovalRequestFactory(execution=ExecutionFactory(stage=stage))


def test_what_waits_from_an_earlier_shop_is_withdrawn_with_the_reason():
    session = SessionFactory(running=True, source="alertmanager", title=TITLE)
    approval = _wait_for_approval(session)
    review = SessionFactory(author=AUTHOR)

    assert cancel_what_is_left() == 2

    for each in (session, review):
        each.refresh_from_db()
        assert (each.status, each.error_message) == ("cancelled", SHOP_IS_GONE)
    approval.refresh_from_db()
    assert (approval.status, approval.decision_reason) == ("expired", SHOP_IS_GONE)


def test_what_is_about_anything_else_or_has_ended_is_left_alone():
    other = SessionFactory(running=True, source="alertmanager", title="ShopCheck: the real one")
    approval = _wait_for_approval(other)
    ended = SessionFactory(completed=True, source="alertmanager", title=TITLE)

    assert cancel_what_is_left() == 0

    approval.refresh_from_db()
    ended.refresh_from_db()
    assert (approval.status, ended.status) == ("pending", "completed")
