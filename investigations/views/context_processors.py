"""What every page shows: the version, who is looking, and what waits for them."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from investigations.access.identity import find_identity
from investigations.roles import OPERATE, SUBMIT
from investigations.selectors.approvals import Waiting, count_waiting
from investigations.selectors.system.trouble import sees_trouble
from tarsy.build import read_build


def product(request: HttpRequest) -> dict[str, object]:
    # Asked for only where a template shows them.
    who = find_identity(request)
    decides = SimpleLazyObject(lambda: who is not None and who.may_decide)
    return {
        "product_version": settings.VERSION,
        "product_build": read_build(),
        "actor": who.actor if who else "",
        "needs_login": settings.TARSY_AUTH != "none",
        "trouble": who is not None and sees_trouble(),
        "may_decide": decides,
        "may_operate": SimpleLazyObject(lambda: who is not None and who.may(OPERATE)),
        "may_submit": SimpleLazyObject(lambda: who is not None and who.may(SUBMIT)),
        "approvals": SimpleLazyObject(lambda: count_waiting() if decides else Waiting()),
    }
