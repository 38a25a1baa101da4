"""Which pages are taken, and what has to be seen on each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Page

Moment = Literal["before", "empty", "full"]
"""Before anybody has logged in; while there is no session; with the whole world."""


@dataclass(frozen=True)
class Sight:
    """One picture. `view` names the address as `reverse` knows it, `session` whose page it is."""

    name: str
    view: str
    seen: str
    """What is visible once the page is all there."""
    session: str = ""
    after: str = ""
    """What follows the path: a query or a place on the page."""
    moment: Moment = "full"
    prepare: Callable[[Page], None] | None = None


def _fill_in_an_alert(page: Page) -> None:
    page.locator("#text").fill(
        '{\n  "alertname": "PaymentsApiHighErrorRate",\n  "severity": "critical",\n'
        '  "namespace": "payments",\n  "summary": "payments-api answers 502 since 03:00"\n}'
    )
    page.locator("#alert_type").select_option("ServiceErrors")
    page.locator("#preview").get_by_text("change-hunter").first.wait_for()


def _ask_where_a_post_would_go(page: Page) -> None:
    page.locator("#route-post").fill(
        '{"version": "4", "receiver": "tarsy", "status": "firing", "groupKey": "{}:{}",\n'
        ' "alerts": [{"status": "firing", "startsAt": "2026-01-05T03:00:00Z",\n'
        '  "labels": {"alertname": "PaymentsApiHighErrorRate", "severity": "critical",\n'
        '   "cluster": "prod-eu-1", "namespace": "payments"},\n'
        '  "annotations": {"summary": "payments-api answers 502"}}]}'
    )
    page.get_by_role("button", name="Show what would be done").click()
    page.locator("#route .t-row-title").first.wait_for()


def _go_to_the_second_step(page: Page) -> None:
    """Press *Approve* once."""
    page.get_by_role("button", name="Approve", exact=True).click()
    page.locator(".t-confirm.is-asked").wait_for()
    page.get_by_role("button", name="Approve", exact=True).scroll_into_view_if_needed()


def _open_a_call(page: Page) -> None:
    """A tool call with its arguments and its result, below the model call that asked for it."""
    page.locator("summary#T4").click()
    page.locator("details:has(> #T4) .t-nums").wait_for()
    page.locator("details:has(> #T4)").evaluate("call => call.scrollIntoView({block: 'center'})")


def _open_a_quote(page: Page) -> None:
    """The words that a claim quotes, where they stand in the result."""
    page.locator(".t-claim .t-ev--said").first.click()
    page.locator(".t-passage mark").wait_for()


def _open_the_incident(page: Page) -> None:
    """The alerts that a session is about, each with what became of it."""
    page.locator("#incident > summary").click()
    page.locator("#incident .t-rows").wait_for()


def _open_the_check(page: Page) -> None:
    """What the last check of a model has found, probe by probe."""
    page.locator(".t-check summary").first.click()
    page.locator(".t-probes").first.wait_for()
    page.locator("#models").evaluate("place => place.scrollIntoView({block: 'start'})")


def _scroll_to(selector: str) -> Callable[[Page], None]:
    def scroll(page: Page) -> None:
        page.locator(selector).first.evaluate("place => place.scrollIntoView({block: 'start'})")

    return scroll


SIGHTS = (
    Sight("login", "login", "#id_username", moment="before"),
    Sight("list-empty", "list", "#nothing-yet", moment="empty"),
    Sight("list", "list", ".t-recent"),
    Sight("list-filtered", "list", ".t-recent", after="?status=failed&status=cancelled",
          prepare=_scroll_to("#recent")),
    Sight("session-running", "session", "#stage-2 .t-agents", "running"),
    Sight("session-approval", "session", ".t-appr", "restart"),
    Sight("session-approval-file", "session", ".t-appr .t-diff", "edit"),
    Sight("session-approval-second-step", "session", ".t-appr", "edit",
          prepare=_go_to_the_second_step),
    Sight("session-finished", "session", "#conclusion .t-lead", "finished"),
    Sight("session-misquoted", "session", "#conclusion .t-lead", "misquoted"),
    Sight("session-quote", "session", "#conclusion .t-lead", "misquoted", prepare=_open_a_quote),
    Sight("session-incident", "session", "#incident", "misquoted", prepare=_open_the_incident),
    Sight("session-claimed-restart", "session", "#conclusion .t-concl-main", "restarted"),
    Sight("session-unverified-write", "session", "#conclusion .t-lead", "unverified"),
    Sight("session-timeline", "session", "#stage-2 .t-agents", "finished",
          prepare=_scroll_to("#stage-2")),
    Sight("session-chat", "session", ".t-stage--chat", "finished",
          prepare=_scroll_to(".t-stage--chat")),
    Sight("trace", "trace", ".t-tree", "finished"),
    Sight("trace-call", "trace", ".t-tree", "finished", prepare=_open_a_call),
    Sight("submit", "submit", "#alert-form", prepare=_fill_in_an_alert),
    Sight("submit-route", "submit-route", "#route-post", prepare=_ask_where_a_post_would_go),
    Sight("maintenance", "maintenance", ".t-rows"),
    Sight("system", "system", "#servers"),
    Sight("system-senders", "system", "#senders .t-below", prepare=_scroll_to("#senders")),
    Sight("system-check", "system", ".t-check", prepare=_open_the_check),
    Sight("admin-list", "admin:investigations_alertsession_changelist", "#result_list"),
)  # fmt: skip

LOOKS: Mapping[str, Mapping[str, object]] = {
    "light": {"viewport": {"width": 1440, "height": 1000}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1440, "height": 1000}, "color_scheme": "dark"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "color_scheme": "light",
        "is_mobile": True,
        "has_touch": True,
    },
}
"""How each page is looked at, as Playwright makes a browser's context."""
