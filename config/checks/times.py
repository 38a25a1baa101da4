"""Deadlines that lie within each other, wherever each of them is said."""

from collections.abc import Mapping
from datetime import timedelta

from config.checks.findings import Findings
from config.schema.defaults import DefaultsConfig
from config.schema.fields import parse_duration
from config.schema.queue import QueueConfig
from config.tree import Path, match, spell

_CALLS = ("first_token_timeout", "silence_timeout")
_DEFAULTS: Path = ("defaults",)
_ITERATION: Path = (*_DEFAULTS, "iteration_timeout")
_SESSION: Path = ("queue", "session_timeout")


def check_times(findings: Findings) -> None:
    """Report each part that would be given more time than the whole it belongs to."""
    providers = [path for path, _ in match(findings.root, "llm_providers.*")]
    servers = [path for path, _ in match(findings.root, "mcp_servers.*")]
    for place in (_DEFAULTS, *providers):
        for part in _CALLS:
            # Where nobody has said it, it gives way to a shorter whole.
            if _is_said(findings, (*place, part)):
                _check(findings, (*place, part), (*place, "llm_call_timeout"))
        _check(findings, (*place, "llm_call_timeout"), _ITERATION)
        _warn(findings, (*place, "retry_after_limit"), "no provider is waited for that long")
    for place in (_DEFAULTS, *servers):
        _check(findings, (*place, "tool_call_timeout"), _ITERATION)
        if _is_said(findings, (*place, "tool_call_limit")):
            _check(findings, (*place, "tool_call_limit"), _ITERATION)
            _check(findings, (*place, "tool_call_timeout"), (*place, "tool_call_limit"))
    for path, _ in match(findings.root, "mcp_servers.*.tool_call_timeouts.*"):
        _check(findings, path, _ITERATION)
    _warn(findings, _ITERATION, "no iteration gets that long")


def _check(findings: Findings, part: Path, whole: Path) -> None:
    written = [path for path in (part, whole) if _written(findings, path) is not None]
    shorter, longer = _effective(findings, part), _effective(findings, whole)
    if not written or shorter is None or longer is None or shorter <= longer:
        return
    text = f"{spell(findings.root, part)} must not be longer than {spell(findings.root, whole)}"
    findings.wrong(written[0], f"{text} ({longer.total_seconds():g}s)")


def _warn(findings: Findings, part: Path, consequence: str) -> None:
    """Of a part that works, but ends with the session before it is over."""
    said, whole = _effective(findings, part), _effective(findings, _SESSION)
    written = [path for path in (part, _SESSION) if _written(findings, path) is not None]
    if not written or said is None or whole is None or said <= whole:
        return
    longer, session = spell(findings.root, part), spell(findings.root, _SESSION)
    text = f"{longer} is longer than {session} ({whole.total_seconds():g}s): {consequence}"
    findings.warn(written[0], text)


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
    try:
        return _USUAL.get(key) if text is None else parse_duration(text)
    except ValueError:
        return None  # the schema reports it


_USUAL: Mapping[str, timedelta] = {
    name: value
    for block in (DefaultsConfig(), QueueConfig())
    for name, value in block
    if isinstance(value, timedelta)
}
"""What holds where nobody says anything, by the name of the key."""
