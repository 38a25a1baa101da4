"""Features whose configuration is read and checked but that do not run yet."""

from collections.abc import Mapping

from config.checks.findings import Findings
from config.tree import BUILT_IN, Node, match

_SWITCHED = {
    "defaults.scoring": "scoring",
    "agent_chains.*.scoring": "scoring",
    "defaults.memory": "memory",
}
_PRESENT = {
    "agents.*.orchestrator": "orchestration",
    "defaults.orchestrator": "orchestration",
    "agent_chains.*.sub_agents": "sub-agents",
    "agent_chains.*.chat.sub_agents": "sub-agents",
    "agent_chains.*.stages.*.sub_agents": "sub-agents",
    "agent_chains.*.stages.*.agents.*.sub_agents": "sub-agents",
    "system.cost_estimation.promotions": "cost promotions",
}
_WITHOUT_EFFECT = {
    "queue.worker_count": "how many workers run is said where they are started",
    "queue.graceful_shutdown_timeout": "a worker hands its agents on and stops within seconds",
    "queue.scoring_shutdown_timeout": "scoring is not supported yet",
    "queue.heartbeat_interval": "set TARSY_HEARTBEAT_SECONDS",
    "queue.orphan_threshold": "set TARSY_LEASE_STALE_SECONDS",
    "queue.orphan_detection_interval": "set TARSY_SWEEP_SECONDS",
    "system.dashboard_url": "set BASE_URL",
    "system.allowed_ws_origins": "set ALLOWED_WS_ORIGINS",
    "system.cost_estimation.model_rates": "costs come from the bundled prices",
    "system.retention.cleanup_interval": "it is looked for every 15 minutes",
}
"""Keys that another program reads, or this one later; each with what holds instead."""


def warn_of_unsupported(findings: Findings, environ: Mapping[str, str]) -> None:
    """Name each feature that is asked for and does not run yet."""
    for pattern, feature in _SWITCHED.items():
        for path, block in match(findings.root, pattern):
            if _is_on(block):
                findings.warn(path, f"{feature} is not supported yet; this has no effect")
    for pattern, feature in _PRESENT.items():
        for path, block in match(findings.root, pattern):
            if block.mapping or block.items:
                findings.warn(path, f"{feature}: not supported yet; this has no effect")
    for pattern, instead in _WITHOUT_EFFECT.items():
        for path, written in match(findings.root, pattern):
            if written.file != BUILT_IN:
                findings.warn(path, f"this has no effect: {instead}")
    _warn_of_memory(findings, environ)


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
