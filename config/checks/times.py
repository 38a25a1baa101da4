"""Deadlines that lie within each other, wherever each of them is said."""

from datetime import timedelta

from config.checks.findings import Findings
from config.schema.defaults import DefaultsConfig
from config.schema.fields import parse_duration
from config.tree import Path, match, spell

_CALLS = ("first_token_timeout", "silence_timeout")


def check_times(findings: Findings) -> None:
    """Report each part that would be given more time than the whole it belongs to."""
    defaults: Path = ("defaults",)
    providers = [path for path, _ in match(findings.root, "llm_providers.*")]
    servers = [path for path, _ in match(findings.root, "mcp_servers.*")]
    for place in (defaults, *providers):
        for part in _CALLS:
            # Where nobody has said it, it gives way to a shorter whole.
            if _is_said(findings, (*place, part)):
                _check(findings, (*place, part), (*place, "llm_call_timeout"))
        _check(findings, (*place, "llm_call_timeout"), (*defaults, "iteration_timeout"))
    for place in (defaults, *servers):
        _check(findings, (*place, "tool_call_timeout"), (*defaults, "iteration_timeout"))


def _check(findings: Findings, part: Path, whole: Path) -> None:
    written = [path for path in (part, whole) if _written(findings, path) is not None]
    shorter, longer = _effective(findings, part), _effective(findings, whole)
    if not written or shorter is None or longer is None or shorter <= longer:
        return
    text = f"{spell(findings.root, part)} must not be longer than {spell(findings.root, whole)}"
    findings.wrong(written[0], f"{text} ({longer.total_seconds():g}s)")


def _is_said(findings: Findings, path: Path) -> bool:
    """Whether the files say it, at the place itself or for all."""
    places = (path, ("defaults", str(path[-1])))
    return any(_written(findings, place) is not None for place in places)


def _written(findings: Findings, path: Path) -> str | None:
    node = findings.root.get(*map(str, path))
    return node.text if node else None


def _effective(findings: Findings, path: Path) -> timedelta | None:
    """What holds at a place: what it says, else what defaults say; None where it is unreadable."""
    key = str(path[-1])
    text = _written(findings, path) or _written(findings, ("defaults", key))
    if text is None:
        usual: timedelta = getattr(DefaultsConfig(), key)
        return usual
    try:
        return parse_duration(text)
    except ValueError:
        return None  # the schema reports it
