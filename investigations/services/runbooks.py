"""Which runbook addresses an alert may name."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from tarsy.errors import InvalidInput

FIELD = "runbook"
LONGEST = 2048


def check_runbook_url(url: str, allowed_domains: Sequence[str]) -> None:
    """Raise InvalidInput unless it is HTTPS on port 443 of an allowed domain.

    Checked by form only, nothing is looked up: fetching repeats the check at each hop.
    """
    if len(url) > LONGEST:
        raise InvalidInput(FIELD, f"must not be longer than {LONGEST:,} characters")
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise InvalidInput(FIELD, "must be a plain address without blanks or foreign letters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InvalidInput(FIELD, "is no address") from error
    if parts.scheme.lower() != "https":
        raise InvalidInput(FIELD, "must start with https://")
    if "@" in parts.netloc:
        raise InvalidInput(FIELD, "must not carry a user or password")
    if port not in (None, 443):
        raise InvalidInput(FIELD, "must use port 443")
    host = (parts.hostname or "").lower()
    if host.removeprefix("www.") not in {domain.lower() for domain in allowed_domains}:
        listed = ", ".join(allowed_domains)
        raise InvalidInput(FIELD, f'has the host "{host}"; allowed are {listed}')
