"""Masking: names of patterns and groups, and own patterns that RE2 must be able to run."""

import re2

from config.checks.findings import Findings, show
from config.tree import Node, match
from config.words import suggest

PATTERNS = frozenset(
    {
        "api_key", "password", "certificate", "certificate_authority_data", "token", "email",
        "ssh_key", "base64_secret", "base64_short", "private_key", "secret_key", "aws_access_key",
        "aws_secret_key", "github_token", "slack_token",
    }
)  # fmt: skip
CODE_MASKERS = frozenset({"kubernetes_secret"})
GROUPS = frozenset({"basic", "secrets", "security", "kubernetes", "cloud", "all"})
LONGEST_PATTERN = 500


def check_masking(findings: Findings) -> None:
    """Report unknown names where masking is on, and patterns that RE2 refuses everywhere."""
    for path, block in match(findings.root, "mcp_servers.*.data_masking"):
        switch = block.get("enabled")
        if switch and switch.is_true:
            _check_names(findings, block, path)
    for path, pattern in match(
        findings.root, "mcp_servers.*.data_masking.custom_patterns.*.pattern"
    ):
        if pattern.text and (problem := refusal_of(pattern.text)):
            findings.wrong(path, problem)
    _check_alert_group(findings)


def refusal_of(pattern: str) -> str | None:
    """Why RE2 cannot run a pattern, without quoting it; None if it can."""
    if len(pattern) > LONGEST_PATTERN:
        return f"longer than {LONGEST_PATTERN} characters; split it into several patterns"
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        raw = error.args[0] if error.args else ""
        text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        reason = text.partition(":")[0] or "not a pattern"
        return (
            f"RE2 cannot run this pattern ({reason}); it knows no look-around, no back-references "
            "and no repeats over 1000"
        )
    return None


def _check_names(findings: Findings, block: Node, path: tuple[str | int, ...]) -> None:
    for key, known in (("pattern_groups", GROUPS), ("patterns", PATTERNS | CODE_MASKERS)):
        names = block.get(key)
        for index, name in enumerate(names.items if names else ()):
            if name.text and name.text not in known:
                near = "" if name.substituted else suggest(name.text, known)
                text = f"there is no built-in {key[:-1].replace('_', ' ')} {show(name)}{near}"
                findings.wrong((*path, key, index), text)


def _check_alert_group(findings: Findings) -> None:
    block = findings.root.get("defaults", "alert_masking")
    if block is None or not block.mapping:
        return
    switch, group = block.get("enabled"), block.get("pattern_group")
    if switch and switch.is_false:
        return
    path = ("defaults", "alert_masking", "pattern_group")
    if group is None or not group.text:
        findings.wrong(path, f"is missing; one of {', '.join(sorted(GROUPS))}")
    elif group.text not in GROUPS:
        near = "" if group.substituted else suggest(group.text, GROUPS)
        findings.wrong(path, f"there is no built-in pattern group {show(group)}{near}")
