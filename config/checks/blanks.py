"""`{{.NAME}}` of a variable that has no value: harmless in a text, not where a key should be."""

import re
from collections.abc import Mapping

from config.checks.findings import Findings
from config.tree import BUILT_IN, Node, Path, leaves
from tarsy.env import is_placeholder

_NEEDED = frozenset(
    {
        "command", "url", "base_url", "repo_url", "session_cleanup_url", "dashboard_url",
        "bearer_token", "model", "channel",
    }
)  # fmt: skip
"""Keys whose value cannot be empty, or be without a part of it."""
_NAMED_BY_PEOPLE = ("env", "custom_headers")
_CREDENTIAL = re.compile(r"token|secret|key|passw|auth|cookie|credential", re.IGNORECASE)


def check_blanks(findings: Findings, environ: Mapping[str, str]) -> None:
    """Name each variable that the files ask for and the environment has nothing for."""
    for path, node in leaves(findings.root):
        if node.file == BUILT_IN or str(path[0]).startswith("x-"):
            continue
        for name in node.blanks:
            _report(findings, path, node, name, is_set=name in environ)
        _check_placeholder(findings, path, node, environ)


def _check_placeholder(
    findings: Findings, path: Path, node: Node, environ: Mapping[str, str]
) -> None:
    """The word of the example in a variable that only these files know to be a secret."""
    is_name = str(path[-1]).endswith("_env")
    if not is_name and not (node.substituted and _is_needed(path)):
        return
    if is_placeholder(environ.get(node.text, "") if is_name else node.text):
        findings.lacks(
            path, "the variable still has CHANGEME where a secret belongs; put in one of yours"
        )


def _report(findings: Findings, path: Path, node: Node, name: str, *, is_set: bool) -> None:
    state = "is empty" if is_set else "is not set"
    if _is_needed(path):
        text = f"{{{{.{name}}}}} {state} in the environment, and this cannot do without; set {name}"
        findings.lacks(path, text if node.text else f"{text}, or leave this key out")
    elif not is_set and findings.holds_keys:  # Else another process may well have it.
        findings.warn(path, f"{{{{.{name}}}}} {state} in the environment: nothing stands there")


def _is_needed(path: Path) -> bool:
    """Whether a value is an address, a command or a credential."""
    key = str(path[-1])
    if len(path) > 1 and path[-2] in _NAMED_BY_PEOPLE:
        return bool(_CREDENTIAL.search(key))
    return key in _NEEDED
