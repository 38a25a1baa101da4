"""Who may send posts of alert sources: what is configured, in words and as rules."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from config.schema.alert_senders import FORMS, AlertSenderConfig, Form
from config.words import list_names
from tarsy.env import Env

SUBMIT_TOKEN = "an API token with the scope submit"
_SHOWN: Mapping[Form, str] = {
    "token": "a token",
    "basic": "a user and a password",
    "github": "the signature of GitHub",
    "grafana": "the signature of Grafana",
    "jira": "the signature of Jira",
    "pagerduty": "the signature of PagerDuty",
    "sentry": "the signature of Sentry",
    "standard_webhooks": "a signature of Standard Webhooks",
    "sns": "the signature of Amazon SNS",
}


_UNTIMED: frozenset[Form] = frozenset({"github", "jira", "pagerduty", "sentry"})


@dataclass(frozen=True)
class SenderRule:
    """What posts of one source must show. `missing` are variables that this process has not got."""

    source: str
    shown: str
    """Empty where nothing has to be shown."""
    origins: str
    missing: tuple[str, ...] = ()
    is_closed: bool = False
    """Whether nobody can show it, because no secret is there."""

    @property
    def told(self) -> str:
        if self.shown:
            return f"takes {self.shown} from {self.origins}"
        return f"open without a secret to {self.origins}"


def form_of(source: str, sender: AlertSenderConfig) -> Form | None:
    """What a post has to show; None where coming from the right place is enough."""
    if not sender.secret_envs and not sender.topics:
        return None
    return sender.form or FORMS.get(source, "token")


def signs_no_time(source: str, sender: AlertSenderConfig) -> bool:
    """Whether a post is signed and its moment is not, so that one of any age may come again."""
    form = form_of(source, sender)
    if form == "grafana":
        return not sender.timestamp_header
    return form in _UNTIMED


def secrets_of(sender: AlertSenderConfig, read: Callable[[str], str]) -> tuple[str, ...]:
    """The secrets that `read` finds for the names of variables; a blank one is none."""
    found = (read(name).strip() for name in sender.secret_envs)
    return tuple(secret for secret in found if secret)


def is_open_to_all(environ: Mapping[str, str]) -> bool:
    """Whether nobody has to log in, so that sources without an entry are open to this machine."""
    return Env(environ).text("TARSY_AUTH", "login") == "none"


def list_rules(
    senders: Mapping[str, AlertSenderConfig], environ: Mapping[str, str]
) -> Iterator[SenderRule]:
    """The rule of each entry, in the order of the file."""
    for source, sender in senders.items():
        form = form_of(source, sender)
        missing = tuple(name for name in sender.secret_envs if not environ.get(name, "").strip())
        yield SenderRule(
            source,
            _show(form, sender) if form else "",
            _name_origins(sender, has_secret=form is not None),
            missing,
            is_closed=bool(missing) and len(missing) == len(sender.secret_envs),
        )


def _show(form: Form, sender: AlertSenderConfig) -> str:
    shown = _SHOWN[form]
    if form == "token":
        where = f"parameter {sender.query}" if sender.query else f"header {_header_of(sender)}"
        return f"{shown} in the {where}"
    return f"{shown} for {list_names(sender.topics)}" if form == "sns" else shown


def _header_of(sender: AlertSenderConfig) -> str:
    return sender.header or "Authorization"


def _name_origins(sender: AlertSenderConfig, *, has_secret: bool) -> str:
    if has_secret:
        return list_names(sender.networks) if sender.networks else "anywhere"
    return list_names(["this machine", *sender.networks])
