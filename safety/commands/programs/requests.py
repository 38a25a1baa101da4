"""curl and wget: what they may fetch is what is known to only tell something (`addresses.py`)."""

import re
from collections.abc import Iterable

from safety.commands.addresses import is_known, read_address
from safety.commands.durations import retries, tries
from safety.commands.grammar import Grammar, Parsed, parse, read_options
from safety.commands.loopback import is_loopback
from safety.commands.policy import Proving, Table, Wrapper
from safety.commands.program_traits import ProgramTraits
from safety.commands.refusal import Refused
from safety.word_lists import word_set

_URL = re.compile(
    r"(?:https?://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::\d+)?(?:[/?][^\s{}\[\]\\^`|<>\"]*)?"
)
_INNER_NAME = re.compile(
    r"[a-z0-9_-]+|.+\.(?:svc|local|internal|lan|intra|corp)|.+\.svc\.cluster\.local"
)
_INNER_ADDRESS = re.compile(
    r"127(?:\.\d{1,3}){3}|10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}"
    r"|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|\[::1\]|\[f[cd][0-9a-f:]+\]"
)
# The services that hand out a machine's credentials.
_METADATA = word_set("instance-data [fd00:ec2::254] [fd20:ce::254]")
# What says who asks and in which form the answer shall be. Others choose another page or host.
_HEADER = (
    r"/(?i:accept(?:-\w+)?|user-agent|cache-control|pragma|content-type|authorization|cookie"
    r"|x-scope-orgid|x-request-id|x-correlation-id|x-api-key|x-auth-token|x-vault-token"
    r"|x-consul-token|traceparent|if-none-match|if-modified-since):\s?[^@\r\n]*/"
)
# With a name in front, curl takes none of it for the name of a file.
_FIELD = r"/[A-Za-z_][\w.\[\]-]*=[\s\S]*/"
_CURL = rf"""
    -[fsSiIkvgN46] -m=/[0-9.]+/ -o=/\/dev\/null|-/ -H={_HEADER}
    -A=/[\w\x20.\/();:,+-]+/ -X=/GET|HEAD|OPTIONS/
    -w=/(?!@)(?:(?!%output|%\{{stderr|%header)[^@])*/
    --fail --silent --show-error --include --head --insecure --verbose --max-time=/[0-9.]+/
    --connect-timeout=/[0-9.]+/ --output=/\/dev\/null|-/ --header={_HEADER}
    --request=/GET|HEAD|OPTIONS/ --write-out=/(?!@)(?:(?!%output)[^@])*/ --compressed --http1.1
    --http2 --url= --ipv4 --ipv6 --no-buffer --no-progress-meter --retry=/\d+/ --retry-delay=/\d+/
    --globoff --fail-with-body -q --disable -G --get -d={_FIELD} --data={_FIELD}
    --data-urlencode={_FIELD}
"""
_WGET = r"""
    -[qSv46] -T=/\d+/ -t=/\d+/ -O=/-/ --spider --quiet --server-response
    --timeout=/\d+/ --tries=/\d+/ --output-document=/-/ --no-check-certificate --no-verbose
"""
CURL = Grammar(read_options(_CURL))
WGET = Grammar(read_options(_WGET))


def _check_host(url: str) -> str:
    """The host. Only machines of one's own network: a request elsewhere can carry anything out."""
    match = _URL.fullmatch(url)
    if not match:
        raise Refused(f"{url!r} is not a plain http(s) address")
    host = match["host"].lower().rstrip(".")
    if re.match(r"(?:ftp|dict|ldap|imap|smtp|pop3)\.", host) or "metadata" in host:
        raise Refused(f"{host} is not asked")
    is_number = re.fullmatch(r"[0-9.]+|0x.*", host) is not None
    if host in _METADATA:
        raise Refused(f"{host} is not asked")
    is_inner = _INNER_ADDRESS.fullmatch(host) or (not is_number and _INNER_NAME.fullmatch(host))
    if not is_inner:
        raise Refused(f"{host} is outside of one's own network; a request could carry data out")
    return host


def _check_page(
    prover: Proving, url: str, fields: Iterable[tuple[str, str]] = (), *, is_head: bool = False
) -> None:
    """Fetching is itself an order to some servers, so the page must be known to only tell."""
    asked = read_address(url, fields)
    if asked is None:
        raise Refused(f"servers could read {url!r} in more than one way")
    # Of what a page does with a query nothing is known, whatever the method is called.
    if is_known(asked, prover.addresses) or (is_head and not asked.query):
        return
    raise Refused(
        f"{url!r} is not known to only tell something: health, metrics, status, version and the "
        "documented reads of common services are, and what the operator lists as `addresses`"
    )


def _prove_curl(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    parsed = parse(argv[1:], CURL)
    urls = (*parsed.words, *parsed.values("--url"))
    if not urls:
        raise Refused("curl lacks an address")
    hosts = [_check_host(url) for url in urls]
    fields = tuple(_fields(parsed))
    if fields and not parsed.has("-G", "--get"):
        raise Refused("curl would send data; with -G it asks for them")
    methods = parsed.values("-X", "--request") or (
        ("HEAD",) if parsed.has("-I", "--head") else ("GET",)
    )
    for url in urls:
        _check_page(prover, url, fields, is_head="GET" not in methods)
    # Its own configuration file could add options.
    return ProgramTraits(
        argv=("curl", "-q", *argv[1:]),
        is_conditional=True,
        reaches_out=not all(map(is_loopback, hosts)),
        seconds=retries(parsed),
    )


def _fields(parsed: Parsed) -> Iterable[tuple[str, str]]:
    """What `-d` adds is taken as it stands, what `--data-urlencode` adds is one value."""
    for field in parsed.values("-d", "--data"):
        asked = read_address(f"localhost/?{field}")
        if asked is None:
            raise Refused(f"servers could read {field[:60]!r} in more than one way")
        yield from asked.query
    for field in parsed.values("--data-urlencode"):
        name, _, value = field.partition("=")
        yield name, value


def _prove_wget(prover: Proving, argv: tuple[str, ...]) -> ProgramTraits:
    """With `--spider` it asks for the page as a whole where a server denies it the head."""
    parsed = parse(argv[1:], WGET)
    if not parsed.has("--spider", "-O", "--output-document") or not parsed.words:
        raise Refused("wget stores what it fetches; only --spider and -O - do not")
    hosts = [_check_host(url) for url in parsed.words]
    for url in parsed.words:
        _check_page(prover, url)
    hardening = ("--no-config", "--no-hsts", "--max-redirect=0")
    return ProgramTraits(
        argv=("wget", *hardening, *argv[1:]),
        is_conditional=True,
        reaches_out=not all(map(is_loopback, hosts)),
        seconds=tries(parsed),
    )


REQUESTS: Table = {"curl": Wrapper(_prove_curl), "wget": Wrapper(_prove_wget)}
