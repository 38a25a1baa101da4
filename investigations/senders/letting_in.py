"""Whether a post of an alert source may come in without an API token."""

from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from cryptography.x509.verification import Store

from config.schema.alert_senders import AlertSenderConfig, Form
from config.senders import form_of, secrets_of
from config.words import list_names
from investigations.senders.chains import Fetch
from investigations.senders.proofs import Knock, Refused
from investigations.senders.shared_secrets import check_secret
from investigations.senders.sns import check_message

_THIS_MACHINE = ("127.0.0.0/8", "::1")
_ALONE = AlertSenderConfig()
"""The rule of a source without an entry where nobody has to log in: this machine, and no other."""


def let_in(
    source: str,
    sender: AlertSenderConfig | None,
    knock: Knock,
    *,
    read_secret: Callable[[str], str],
    read_body: Callable[[], object],
    fetch: Fetch,
    roots: Callable[[], Store],
) -> Form | None:
    """What the post has shown; None where coming from the right place was enough.

    `read_secret` gives what a variable holds, `read_body` the post as JSON, for what is signed in
    it, and `roots` the authorities that are trusted: none is asked for where nothing depends on it.
    Raises Refused, and Unavailable where `fetch` does.
    """
    rule = sender or _ALONE
    form = form_of(source, rule)
    if form is None:
        check_place(rule, knock)
        return None
    if rule.networks:
        _check_place(rule, knock, has_secret=True)
    if form == "sns":
        check_message(rule, read_body(), knock, fetch, roots())
        return form
    secrets = secrets_of(rule, read_secret)
    if not secrets:
        named = list_names(rule.secret_envs)
        raise Refused("not_set_up", f"cannot be checked: {named} is not set where TARSy runs")
    check_secret(form, rule, secrets, knock)
    return form


def check_place(rule: AlertSenderConfig, knock: Knock) -> None:
    """Raise Refused unless the post comes from where none of its source needs a secret."""
    _check_place(rule, knock, has_secret=False)


def _check_place(rule: AlertSenderConfig, knock: Knock, *, has_secret: bool) -> None:
    allowed = rule.networks if has_secret else (*_THIS_MACHINE, *rule.networks)
    if not _is_within(knock.address, allowed):
        place = f"came from {knock.address[:60] or 'nowhere'}"
        if has_secret:
            told = f"{place}, which is in none of the networks of this source"
        else:
            told = (
                f"brings no secret and no API token, and {place}: only from this machine and from "
                "the networks that alert_senders lists none is needed"
            )
        raise Refused("wrong_place", told)
    if not knock.came_straight:
        raise Refused(
            "wrong_place",
            f"came through a proxy at {knock.address[:60]} that TARSY_FORWARDING_PROXIES does not "
            "name, so nobody knows from where",
        )


def _is_within(text: str, networks: tuple[str, ...]) -> bool:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return any(address in _read_network(network) for network in networks)


@lru_cache(maxsize=256)
def _read_network(text: str) -> IPv4Network | IPv6Network:
    return ip_network(text, strict=False)
