"""The incident that `make demo` shows: a small shop in which something really goes wrong."""

import os
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from threading import Thread

from django.contrib.auth.models import User
from django.db.models import Q

from investigations.models import AlertSession
from investigations.services.intake import read_alert, submit_alert
from investigations.services.sessions import cancel_session
from investigations.services.tokens import create_token
from ops.envelope import ToolFailure
from tarsy.errors import ConfigError
from tarsy.shop.check import ALERT
from tarsy.shop.faults import DEFAULT, FAULTS, NONE
from tarsy.shop.opening import Shop, check_fault, open_shop
from tarsy.shop.services import SERVICES

RULES_ONLY = "services"
WITH_MODEL = "services-with-model"
"""Alert types of the built-in chains: rules alone, and with a model that confirms them."""
AUTHOR = "demo"
SHOP_IS_GONE = "the demo was started again, and the shop that this was about is gone"
QUIET_SECONDS = 5.0
"""How long all is well before the fault."""

Say = Callable[[str], None]


class Demo:
    """A shop and what is going to happen in it. `open` may run beside the start of the rest."""

    def __init__(self, var_directory: Path, fault: str, say: Say) -> None:
        self.fault = fault
        self._directory = var_directory
        self._say = say
        self._kept = ExitStack()
        self._opening: Future[Shop] | None = None

    @property
    def promise(self) -> str:
        """What is going to happen, and how soon."""
        if self.fault == NONE:
            return "Somebody asks whether all is well a moment"
        return "Something breaks a few seconds"

    def open(self) -> None:
        """Begin to open the shop; `begin` waits for it. Whoever stops meanwhile does not."""
        self._opening = Future()
        Thread(target=self._open, args=(self._opening,), name="shop", daemon=True).start()

    def _open(self, opening: Future[Shop]) -> None:
        try:
            opening.set_result(self._kept.enter_context(open_shop(self._directory)))
        except BaseException as error:
            opening.set_exception(error)

    def begin(self, url: str, owner: User | None, alert_type: str) -> None:
        """Let customers in, show that all is well, and set the fault off.

        Without the shop the product is worth having too, so a failure is only said.
        """
        assert self._opening is not None
        try:
            self._begin(self._opening.result(), url, owner, alert_type)
        except (ToolFailure, ConfigError, OSError) as error:
            self._say(f"The shop of the demo could not be opened, all else works: {error}")

    def close(self) -> None:
        """Let go of what the shop's processes live with: they end by themselves."""
        self._kept.close()

    def _begin(self, shop: Shop, url: str, owner: User | None, alert_type: str) -> None:
        intake = f"{url}/api/v1/webhooks/alertmanager?alert_type={alert_type}"
        shop.admit_customers(intake, _make_token(owner) if owner is not None else "")
        self._say(f"A small shop runs at {shop.url}: {', '.join(SERVICES)}, customers and a check.")
        if self.fault == NONE:
            review = {"alert_type": alert_type, "data": make_review(shop.url)}
            submit_alert(read_alert(review), author=AUTHOR)
            self._say("Nothing goes wrong in it: somebody only asks whether it is well.")
            return
        time.sleep(QUIET_SECONDS)
        said = shop.set_off(self.fault)
        others = ", ".join((*(name for name in FAULTS if name != self.fault), NONE))
        self._say(f"Now {said} (FAULT={self.fault}; there are also {others}).")
        self._say("The check notices it and tells an alert. Then rules look for the cause.")


def cancel_what_is_left() -> int:
    """Cancel what still looks into an earlier shop, which is gone, and withdraw what it asks for:
    a repair of it would be done to the new one. How many there were."""
    of_a_shop = Q(author=AUTHOR) | Q(source="alertmanager", title__startswith=f"{ALERT}:")
    open_ones = AlertSession.objects.filter(of_a_shop, deleted_at=None)
    left = list(open_ones.exclude(status__in=AlertSession.TERMINAL).values_list("pk", flat=True))
    for session_id in left:
        cancel_session(session_id, AUTHOR, SHOP_IS_GONE)
    return len(left)


def read_fault() -> str:
    """The fault that FAULT names. Raises `ConfigError` where there is no such one."""
    name = os.environ.get("FAULT", "").strip() or DEFAULT
    check_fault(name)
    return name


def make_review(url: str) -> dict[str, object]:
    """An alert that is none: a person wants to know how the shop is."""
    return {
        "alertname": "ShopReview",
        "severity": "info",
        "summary": "Is the shop well?",
        "description": f"A review of shop-web at {url} and of what it depends on.",
        "labels": {"service": "shop-web", "source": "review"},
    }


def _make_token(owner: User) -> str:
    name = f"shop-check {secrets.token_hex(4)}"
    return create_token(owner=owner, name=name, actor=owner.username, scopes=["submit"])
