"""What every page shows: the version, who is looking, and what waits for them."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from investigations.identity import actor_of, may, may_decide
from investigations.roles import OPERATE, SUBMIT
from investigations.selectors.approvals import Waiting, count_waiting
from investigations.selectors.trouble import sees_trouble


def product(request: HttpRequest) -> dict[str, object]:
    # Asked for only where a template shows them.
    decides = SimpleLazyObject(lambda: may_decide(request))
    actor = actor_of(request)
    return {
        "product_version": settings.VERSION,
        "actor": actor,
        "needs_login": settings.TARSY_AUTH != "none",
        "trouble": bool(actor) and sees_trouble(),
        "may_decide": decides,
        "may_operate": SimpleLazyObject(lambda: may(request, OPERATE)),
        "may_submit": SimpleLazyObject(lambda: may(request, SUBMIT)),
        "approvals": SimpleLazyObject(lambda: count_waiting() if decides else Waiting()),
    }
