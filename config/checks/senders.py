"""Rules between the keys of `alert_senders`, and who may send without a secret."""

from collections.abc import Mapping
from ipaddress import ip_network

from config.checks.findings import Findings, show
from config.model import Config
from config.schema.alert_senders import FORMS
from config.senders import is_open_to_all, list_rules
from config.tree import Node, Path, match
from config.words import suggest
from tarsy.errors import Mistake

_FILE = "tarsy.yaml"
_MEANT_FOR = {
    "user": ("basic",),
    "header": ("token", "github", "grafana", "jira", "pagerduty", "sentry"),
    "query": ("token",),
    "timestamp_header": ("grafana",),
    "max_age": ("grafana", "standard_webhooks", "sns"),
    "topics": ("sns",),
}
"""The forms for which a key has a meaning."""


def check_senders(findings: Findings) -> None:
    """Report names that are no source, and keys that do not go together."""
    own = findings.root.get("alert_sources")
    known = [*FORMS, *(own.mapping if own is not None else ())]
    for path, sender in match(findings.root, "alert_senders.*"):
        source = str(path[-1])
        if source not in known:
            text = f"there is no alert source of this name{suggest(source, known)}"
            findings.wrong(path, text)
            continue
        _check_keys(findings, path, sender, sender.text_at("form") or FORMS.get(source, "token"))
        _warn_of_everybody(findings, path, sender)


def note_senders(config: Config, environ: Mapping[str, str]) -> tuple[Mistake, ...]:
    """Which sources are open, and to whom."""
    told = [
        f"alert_senders.{rule.source}: {rule.told}"
        for rule in list_rules(config.alert_senders, environ)
        if not rule.shown
    ]
    if is_open_to_all(environ):
        other = "every other alert source" if config.alert_senders else "every alert source"
        told.append(f"{other} is open without a secret to this machine, for TARSY_AUTH is none")
    return tuple(Mistake(_FILE, 0, text) for text in told)


def _check_keys(findings: Findings, path: Path, sender: Node, form: str) -> None:
    for key, forms in _MEANT_FOR.items():
        if sender.get(key) is not None and form not in forms:
            meant = " and ".join(forms)
            findings.wrong((*path, key), f"has no meaning for the form {form}, only for {meant}")
    if form == "sns":
        if sender.get("secret_envs") is not None:
            text = "Amazon SNS signs with a certificate; for raw messages set form: basic or token"
            findings.wrong((*path, "secret_envs"), text)
        if sender.get("form") is not None and sender.get("topics") is None:
            findings.wrong((*path, "form"), "needs topics: the ARNs that posts are taken from")
        return
    has_secret = bool(sender.get("secret_envs") and sender.mapping["secret_envs"].items)
    for key in ("form", "user", "header", "query", "timestamp_header", "max_age"):
        if not has_secret and sender.get(key) is not None:
            findings.wrong((*path, key), "needs secret_envs: the variables that hold the secret")
            return
    if form == "basic" and has_secret and not sender.text_at("user"):
        findings.wrong(path, "the form basic needs a user")
    if sender.get("query") is not None and sender.get("header") is not None:
        findings.wrong((*path, "query"), "the token is in a header or in the address, not in both")
    if form == "grafana" and sender.get("max_age") and not sender.get("timestamp_header"):
        findings.wrong((*path, "max_age"), "needs the timestamp_header that is set in Grafana")


def _warn_of_everybody(findings: Findings, path: Path, sender: Node) -> None:
    networks = sender.get("networks")
    if networks is None or sender.get("secret_envs") or sender.get("topics"):
        return
    for number, node in enumerate(networks.items):
        try:
            network = ip_network(node.text, strict=False)
        except ValueError:
            continue  # The schema says so.
        if network.prefixlen == 0:
            text = f"{show(node)} is the whole internet: anybody may send alerts"
            findings.warn((*path, "networks", number), text)
