"""Runbooks as agents read them, and the list of those that a repository holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from investigations.runbooks import github
from investigations.runbooks.addresses import Unavailable, check_host, read_address
from investigations.runbooks.cache import Cache
from investigations.runbooks.fetch import Network, Request, fetch

KEPT_RUNBOOKS = 64
SECONDS_OF_FAILURE = 15.0
"""So long a failure is told again without another attempt."""
LONGEST_TEXT = 100_000
"""Characters; a model has to read the alert and the tools' answers as well."""


@dataclass(frozen=True)
class Rules:
    """What the operator allows."""

    allowed_domains: Sequence[str]
    github_token: str = ""
    cache_seconds: float = 60.0


@dataclass(frozen=True)
class Runbook:
    """A runbook's text, or the problem that kept us from having it, or neither."""

    text: str = ""
    problem: str = ""


class Shelf:
    """Fetches runbooks and remembers them for a while. For one event loop."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._cache: Cache[Runbook] = Cache(KEPT_RUNBOOKS)

    async def read(self, url: str, rules: Rules) -> Runbook:
        """The runbook at `url`. Never raises for what is wrong out there: that is its problem."""

        async def load() -> Runbook:
            try:
                return Runbook(text=await _read_text(url, rules, self._network))
            except Unavailable as error:
                return Runbook(problem=f"its address {error}")

        def keep_for(runbook: Runbook) -> float:
            longest = SECONDS_OF_FAILURE if runbook.problem else rules.cache_seconds
            return min(longest, rules.cache_seconds)

        return await self._cache.get(url, load, seconds=keep_for)


async def list_runbooks(
    repo_url: str, token: str, network: Network, *, seconds: float
) -> tuple[str, ...]:
    """The pages of all Markdown files below a folder on GitHub. Raises Unavailable."""
    folder = github.read_folder(repo_url)
    request = Request(
        address=folder.listing,
        allowed_domains=(github.API,),
        headers_for=github.headers_from(folder.listing, token),
        max_bytes=github.LISTING_BYTES,
        seconds=seconds,
    )
    return github.read_listing(folder, await fetch(request, network))


async def _read_text(url: str, rules: Rules, network: Network) -> str:
    page = read_address(url)
    check_host(page, rules.allowed_domains)
    address = github.to_text_address(page)
    request = Request(
        address=address,
        # Who allows GitHub's pages allows the host that holds their texts.
        allowed_domains=tuple(dict.fromkeys((*rules.allowed_domains, address.host))),
        headers_for=github.headers_from(address, rules.github_token),
    )
    return _to_text(await fetch(request, network))


def _to_text(body: bytes) -> str:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unavailable("holds no text (it is not UTF-8)") from error
    if "\0" in text:
        raise Unavailable("holds no text (there are zero bytes in it)")
    if not text.strip():
        raise Unavailable("holds an empty text")
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}\n[The runbook goes on; {len(text):,} characters in all.]"
