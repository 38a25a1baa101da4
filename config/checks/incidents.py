"""Routes that no alert reaches, windows that never open, matchers that match nothing."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from config.checks.findings import Findings, show
from config.matchers import Matcher, MatcherError, parse_matchers
from config.schema.fields import parse_moment
from config.schema.incidents import OUR_LABELS
from config.sources import KNOWN_SOURCES
from config.tree import Node, Path, match
from config.words import find_near, suggest

_ROUTES = "incidents.routes.*"
_WINDOWS = "incidents.maintenance.*"
_MATCHED = (
    f"{_ROUTES}.match.*",
    f"{_WINDOWS}.match.*",
    "incidents.inhibit.*.source_match.*",
    "incidents.inhibit.*.target_match.*",
)
_SEVERITIES = ("critical", "high", "warning", "info", "unknown")


def check_incidents(findings: Findings) -> None:
    """Report what is well formed and still without effect."""
    _check_alert_types(findings)
    _check_routes(findings)
    _check_windows(findings)
    _check_matchers(findings)
    _check_sources(findings)


def _check_alert_types(findings: Findings) -> None:
    chains = match(findings.root, "agent_chains.*.alert_types.*")
    known = frozenset(node.text for _, node in chains)
    for path, node in match(findings.root, f"{_ROUTES}.alert_type"):
        if node.text and node.text not in known:
            near = "" if node.substituted else suggest(node.text, known)
            findings.wrong(path, f"no chain takes the alert type {show(node)}{near}")


def _check_routes(findings: Findings) -> None:
    before: list[tuple[int, frozenset[Matcher]]] = []
    for number, (path, route) in enumerate(match(findings.root, _ROUTES), start=1):
        wanted = frozenset(_matchers_of(route, "match"))
        if _contradict(wanted):
            findings.warn(path, "no alert can match all its matchers, so it is never reached")
            continue
        for earlier, least in before:
            if least <= wanted:
                text = f"is never reached: route {earlier} takes every alert that it would match"
                findings.warn(path, text)
                break
        before.append((number, wanted))


def _contradict(wanted: frozenset[Matcher]) -> bool:
    """Whether two of them want one label to be two things."""
    exact: dict[str, str] = {}
    for each in wanted:
        if each.sign == "=" and exact.setdefault(each.name, each.value) != each.value:
            return True
    return any(
        not each.matches({each.name: exact[each.name]}) for each in wanted if each.name in exact
    )


def _check_windows(findings: Findings) -> None:
    now = datetime.now(UTC)
    for path, window in match(findings.root, _WINDOWS):
        once, again = _has(window, "start", "end"), _has(window, "begins", "ends")
        if once and again:
            findings.wrong(
                path, "has start or end as well as begins or ends; it is one or the other"
            )
        elif once:
            _check_single_window(findings, path, window, now)
        elif not again or not (window.get("begins") and window.get("ends")):
            findings.wrong(path, "never opens: give it start and end, or begins and ends")
        elif window.text_at("begins") == window.text_at("ends"):
            text = "opens and closes at the same time of day, so it never is closed on its days"
            findings.warn(path, text)


def _check_single_window(findings: Findings, path: Path, window: Node, now: datetime) -> None:
    start, end = _moment(window, "start"), _moment(window, "end")
    if start is None or end is None:
        if not (window.get("start") and window.get("end")):
            findings.wrong(path, "never opens: it needs a start and an end")
        return
    if end <= start:
        findings.wrong((*path, "end"), "never opens: it must end after its start")
    elif end <= now:
        findings.warn(path, "never opens again: it is over")


def _has(node: Node, *names: str) -> bool:
    return any(node.get(name) is not None for name in names)


def _moment(window: Node, name: str) -> datetime | None:
    node = window.get(name)
    try:
        return parse_moment(node.text) if node else None
    except ValueError:
        return None  # the schema reports it


def _check_matchers(findings: Findings) -> None:
    known = (*OUR_LABELS, *_labels_in_use(findings))
    sources = _known_sources(findings)
    for pattern in _MATCHED:
        for path, node in match(findings.root, pattern):
            for each in _parse(node.text):
                _check_matcher(findings, path, each, known, sources)


def _check_matcher(
    findings: Findings, path: Path, each: Matcher, known: tuple[str, ...], sources: frozenset[str]
) -> None:
    if each.name not in known and (near := find_near(each.name, OUR_LABELS)):
        text = f"no alert has the label '{each.name[:60]}' unless its sender sets it"
        findings.warn(path, f"{text}; did you mean '{near}'?")
    words: Mapping[str, frozenset[str]] = {"severity": frozenset(_SEVERITIES), "source": sources}
    allowed = words.get(each.name)
    if allowed is None or each.sign in ("!=", "!~"):
        return
    if not any(each.matches({each.name: word}) for word in allowed):
        text = f"no alert has such a {each.name}, so it never matches"
        findings.warn(path, f"{text}{suggest(each.value, allowed)}")


def _labels_in_use(findings: Findings) -> frozenset[str]:
    """Labels that the file names where it groups: whoever writes them there means them."""
    places = ("incidents.group_by.*", f"{_ROUTES}.group_by.*", f"{_ROUTES}.team_label",
              "incidents.inhibit.*.equal.*")  # fmt: skip
    return frozenset(node.text for place in places for _, node in match(findings.root, place))


def _check_sources(findings: Findings) -> None:
    known = _known_sources(findings)
    for path, node in match(findings.root, "incidents.regroup.*"):
        if node.text not in known:
            near = "" if node.substituted else suggest(node.text, known)
            findings.wrong(path, f"there is no alert source {show(node)}{near}")
    budgets = findings.root.get("incidents", "budgets")
    for path, _ in match(findings.root, "incidents.budgets.*"):
        name = str(path[-1])
        if name in known or name == "default":
            continue
        is_secret = budgets is not None and name in budgets.secret_keys
        shown = "this name" if is_secret else f"'{name[:60]}'"
        near = "" if is_secret else suggest(name, known)
        findings.wrong(path, f"there is no alert source {shown}{near}")


def _known_sources(findings: Findings) -> frozenset[str]:
    own = findings.root.get("alert_sources")
    return KNOWN_SOURCES | (own.showable_keys if own is not None else frozenset())


def _matchers_of(node: Node, key: str) -> Iterator[Matcher]:
    for _, each in match(node, f"{key}.*"):
        yield from _parse(each.text)


def _parse(text: str) -> tuple[Matcher, ...]:
    try:
        return parse_matchers(text)
    except MatcherError:
        return ()  # the schema reports it
