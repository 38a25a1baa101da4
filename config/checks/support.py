"""Keys that are read and checked but have no effect, each with what holds instead.

Whatever the schema has and no code reads stands here; a test walks the schema and sees to it.
"""

from collections.abc import Mapping

from config.checks.findings import Findings
from config.tree import BUILT_IN, Node, match

_STAGE_AGENT = "agent_chains.*.stages.*.agents.*"
SWITCHED = {
    "defaults.scoring": "scoring",
    "agent_chains.*.scoring": "scoring",
    "defaults.memory": "memory",
}
"""Blocks that ask for something only where they say `enabled: true`."""
PRESENT = {
    "agents.*.orchestrator": "orchestration",
    "defaults.orchestrator": "orchestration",
    "agent_chains.*.sub_agents": "sub-agents",
    "agent_chains.*.chat.sub_agents": "sub-agents",
    "agent_chains.*.stages.*.sub_agents": "sub-agents",
    f"{_STAGE_AGENT}.sub_agents": "sub-agents",
    "agents.*.skills": "skills on demand",
    f"{_STAGE_AGENT}.skills": "skills on demand",
    "system.cost_estimation.promotions": "cost promotions",
}
"""Blocks and lists that ask for something where they are not empty."""
WITHOUT_EFFECT = {
    "queue.worker_count": "how many workers run is said where they are started",
    "queue.graceful_shutdown_timeout": "a worker hands its agents on and stops within seconds",
    "queue.scoring_shutdown_timeout": "scoring is not supported yet",
    "queue.heartbeat_interval": "set TARSY_HEARTBEAT_SECONDS",
    "queue.orphan_threshold": "set TARSY_LEASE_STALE_SECONDS",
    "queue.orphan_detection_interval": "set TARSY_SWEEP_SECONDS",
    "system.dashboard_url": "links in messages lead to BASE_URL; only the live stream is opened to "
    "pages from here",
    "system.retention.cleanup_interval": "it is looked for every 15 minutes",
}
"""Keys that another program reads, or this one later."""
LITTLE_EFFECT = "system.dashboard_url"
"""The one of them that is read here for something else."""
VALUES = {
    ("agents.*.type", "action"): "it investigates, and may write only as its control_level says",
    (f"{_STAGE_AGENT}.type", "action"): "it investigates, and may write only as its control_level "
    "says",
    ("agents.*.type", "scoring"): "scoring is not supported yet; in a stage it is one call without "
    "tools",
    (f"{_STAGE_AGENT}.type", "scoring"): "scoring is not supported yet; this is one call without "
    "tools",
}
"""Values that promise what is not done."""


def warn_of_unsupported(findings: Findings, environ: Mapping[str, str]) -> None:
    """Name each feature that is asked for and does not run yet."""
    for pattern, feature in SWITCHED.items():
        for path, block in match(findings.root, pattern):
            if _is_on(block):
                findings.warn(path, f"{feature} is not supported yet; this has no effect")
    for pattern, feature in PRESENT.items():
        for path, block in match(findings.root, pattern):
            if block.mapping or block.items:
                findings.warn(path, _explain_absence(feature, block))
    for pattern, instead in WITHOUT_EFFECT.items():
        for path, written in match(findings.root, pattern):
            if written.file != BUILT_IN:
                has = "little" if pattern == LITTLE_EFFECT else "no"
                findings.warn(path, f"this has {has} effect: {instead}")
    for (pattern, value), instead in VALUES.items():
        for path, written in match(findings.root, pattern):
            if written.text == value and written.file != BUILT_IN:
                findings.warn(path, f"'{value}' is not supported yet: {instead}")
    _warn_of_memory(findings, environ)


def _explain_absence(feature: str, block: Node) -> str:
    if feature != "skills on demand":
        return f"{feature}: not supported yet; this has no effect"
    names = ", ".join(
        "a substituted one" if item.substituted else item.text for item in block.items
    )
    return (
        f"{feature} are not supported yet, so no agent can load {names} from here; "
        "required_skills puts them into the prompt"
    )


def _warn_of_memory(findings: Findings, environ: Mapping[str, str]) -> None:
    memory = findings.root.get("defaults", "memory")
    if memory is None or not _is_on(memory):
        return
    key = memory.text_at("embedding", "api_key_env") or "GOOGLE_API_KEY"
    if findings.holds_keys and not environ.get(key, "").strip():
        findings.warn(("defaults", "memory", "embedding", "api_key_env"), "its variable is not set")
    blocks = [block for _, block in match(findings.root, "agent_chains.*.scoring")]
    default = findings.root.get("defaults", "scoring")
    if not any(_is_on(block) for block in (*blocks, *([default] if default else ()))):
        findings.warn(("defaults", "memory"), "no chain has scoring enabled, so nothing is learned")


def _is_on(block: Node) -> bool:
    switch = block.get("enabled")
    return switch is not None and switch.is_true
