"""What every page shows: the version, who is looking, and what waits for them."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from investigations.identity import actor_of, may_ask, may_decide
from investigations.selectors.approvals import Waiting, count_waiting


def product(request: HttpRequest) -> dict[str, object]:
    # Asked for only where a template shows them.
    decides = SimpleLazyObject(lambda: may_decide(request))
    return {
        "product_version": settings.VERSION,
        "actor": actor_of(request),
        "needs_login": settings.TARSY_AUTH != "none",
        "may_decide": decides,
        "may_ask": SimpleLazyObject(lambda: may_ask(request)),
        "approvals": SimpleLazyObject(lambda: count_waiting() if decides else Waiting()),
    }
