"""Arrows point one way: every import of ours is checked against the layers of the design."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("tarsy", "config", "agents", "mcp_bridge", "investigations")

# What a layer may import of ours, by longest prefix. A layer always sees itself.
ALLOWED: dict[str, tuple[str, ...]] = {
    "tarsy.errors": (),
    "tarsy.env": ("tarsy.errors",),
    "tarsy.logs": ("masking",),
    "tarsy.aio": (),
    "tarsy.uptime": (),
    "tarsy.celery": (),
    "tarsy.settings": ("tarsy.env", "tarsy.logs", "tarsy.embedded"),
    "tarsy.embedded": ("tarsy.errors", "tarsy.env"),
    "tarsy": PACKAGES,
    "config": ("tarsy.errors", "tarsy.env"),
    "agents": ("config", "tarsy.errors"),
    "mcp_bridge": ("agents.types", "agents.ports", "config", "tarsy.errors", "mcp_bridge"),
    # Within the bridge: the grounding of answers and the gate know no server and no transport.
    "safety.word_list": (),
    "mcp_bridge.server_config": (),
    "safety.requests": (
        "agents.types",
        "agents.ports",
        "safety.checks",
        "safety.evidence",
        "safety.refusals",
        "mcp_bridge.server_config",
    ),
    "safety.grounding": ("safety.evidence", "safety.word_list"),
    "safety.gate": (
        "agents.types",
        "agents.ports",
        "safety.commands",
        "safety.requests",
        "safety.grounding",
        "mcp_bridge.server_config",
        "safety.word_list",
    ),
    # Inside the Django app: models <- timeline <- publish, queue <- services <- pipeline <- tasks.
    "investigations.foreign_json": (),
    "investigations.models": ("investigations.foreign_json",),
    "investigations.migrations": (),
    "investigations.apps": ("investigations.roles",),
    "investigations.roles": (),
    "investigations.plain_text": (),
    "investigations.linkifying": (),
    "investigations.markdown": ("investigations.linkifying", "investigations.plain_text"),
    "investigations.marked_text": ("investigations.markdown", "investigations.plain_text"),
    "investigations.runbooks": ("tarsy.errors",),
    "investigations.notifications": ("investigations.plain_text", "tarsy.errors"),
    "investigations.chain_plan": ("config", "investigations.models"),
    "investigations.timeline": ("investigations.models",),
    "investigations.publish": ("investigations.timeline",),
    "investigations.queue": ("tarsy.celery",),
    "investigations.masking": ("masking", "config"),
    "investigations.selectors": (
        "investigations.foreign_json",
        "investigations.models",
        "investigations.timeline",
        "investigations.chain_plan",
        "investigations.markdown",
        "agents.report",
        "agents.types",
        "config",
        "tarsy.errors",
    ),
    # What a claim rests on is found by the same rules that judge an answer.
    "investigations.selectors.evidence": (
        "agents.report",
        "investigations.models",
        "investigations.selectors",
        "safety.grounding",
        "safety.evidence",
        "tarsy.errors",
    ),
    # The configuration is told as people may see it.
    "investigations.selectors.configuration": (
        "investigations.masking",
        "investigations.selectors.configuration_walk",
        "agents.llm.windows",
        "agents.types",
        "config",
        "tarsy.errors",
    ),
    # What may be a secret is taken out of the configuration by the masker as well.
    "investigations.selectors.effective_configuration": (
        "investigations.masking",
        "investigations.selectors.configuration_walk",
        "agents.types",
        "config",
    ),
    "investigations.services": (
        "investigations.services",
        "investigations.foreign_json",
        "investigations.models",
        "investigations.timeline",
        "investigations.publish",
        "investigations.queue",
        "investigations.chain_plan",
        "investigations.masking",
        "investigations.markdown",
        "investigations.runbooks",
        "investigations.notifications",
        "investigations.roles",
        "investigations.selectors",
        "agents.types",
        "config",
        "tarsy.errors",
        "tarsy.uptime",
    ),
    # Nothing invisible stands in a title.
    "investigations.services.titles": (
        "investigations.foreign_json",
        "masking.visible_text",
    ),
    "investigations.gate_trail": (
        "investigations.models",
        "investigations.services",
        "safety.gate.events",
        "tarsy.aio",
    ),
    "investigations.journal": (
        "investigations.gate_trail",
        "investigations.masking",
        "investigations.models",
        "investigations.open_blocks",
        "investigations.services",
        "investigations.publish",
        "investigations.timeline",
        "agents.types",
        "tarsy.aio",
        "tarsy.uptime",
    ),
    "investigations.open_blocks": (
        "investigations.masking",
        "investigations.models",
        "investigations.services",
    ),
    "investigations.language_models": (
        "investigations.models",
        "agents",
        "config",
        "tarsy.errors",
    ),
    "investigations.retelling": ("investigations.models", "agents"),
    "investigations.briefing": (
        "investigations.language_models",
        "investigations.models",
        "investigations.retelling",
        "investigations.services",
        "investigations.selectors",
        "investigations.masking",
        "investigations.runbooks",
        "agents",
        "config",
        "tarsy.errors",
    ),
    "investigations.runbook_reading": (
        "investigations.briefing",
        "investigations.runbooks",
        "agents",
        "config",
    ),
    "investigations.recalling": ("investigations.selectors", "agents.types", "tarsy.aio"),
    "investigations.approval_desk": (
        "investigations.hub",
        "investigations.models",
        "investigations.publish",
        "investigations.selectors",
        "investigations.services",
        "investigations.timeline",
        "agents.person_time",
        "agents.types",
        "masking",
        "safety.gate.approvals",
        "safety.gate.diffs",
        "safety.gate.shown",
        "tarsy.aio",
    ),
    "investigations.records": (
        "investigations.models",
        "investigations.selectors",
        "investigations.services",
        "mcp_bridge",
        "tarsy.errors",
    ),
    "investigations.toolboxes": (
        "investigations.approval_desk",
        "investigations.briefing",
        "investigations.models",
        "investigations.records",
        "mcp_bridge",
        "agents",
        "config",
        "tarsy.aio",
        "tarsy.errors",
    ),
    "investigations.tool_monitor": (
        "investigations.records",
        "investigations.selectors.tool_servers",
        "investigations.selectors.workers",
        "mcp_bridge",
        "config",
    ),
    "investigations.tool_trials": (
        "investigations.records",
        "investigations.selectors.trials",
        "investigations.services.trials",
        "mcp_bridge",
        "config",
    ),
    "investigations.management.commands.mcp_tools": (
        "investigations.records",
        "mcp_bridge",
        "agents.types",
        "config",
        "tarsy.errors",
    ),
    "investigations.pipeline": (
        "investigations.briefing",
        "investigations.gate_trail",
        "investigations.journal",
        "investigations.open_blocks",
        "investigations.recalling",
        "investigations.runbook_reading",
        "investigations.toolboxes",
        "investigations.models",
        "investigations.services",
        "agents",
        "tarsy.aio",
        "tarsy.errors",
    ),
    "investigations.worker": (
        "investigations.publish",
        "investigations.selectors.workers",
        "investigations.services",
        "investigations.tool_monitor",
        "config",
        "tarsy.aio",
    ),
    "investigations.tasks": (
        "investigations.pipeline",
        "investigations.queue",
        "investigations.services",
        "investigations.tool_trials",
        "investigations.worker",
        "tarsy.aio",
    ),
    "investigations.management.commands.demo_service": ("ops", "tarsy"),
    "investigations.management.commands.classify_command": ("safety.commands",),
    "investigations.curl": (
        "investigations.foreign_json",
        "investigations.masking",
        "investigations.plain_text",
        "agents.types",
    ),
    "investigations.management.commands.mask": ("investigations.masking", "tarsy.errors"),
    # What faces outward: services and selectors, and what they speak of.
    "investigations": (
        "agents.types",
        "investigations.models",
        "investigations.services",
        "investigations.selectors",
        "investigations.timeline",
        "investigations.publish",
        "investigations.plain_text",
        "investigations.foreign_json",
        "investigations.markdown",
        "investigations.marked_text",
        "investigations.roles",
        "investigations.identity",
        "investigations.limits",
        "investigations.fragments",
        "investigations.hub",
        "investigations.consumers",
        "investigations.alert_form",
        "investigations.curl",
        "investigations.views",
        "investigations.api",
        "investigations.templatetags",
        "config",
        "tarsy",
    ),
}


def _modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                is_module = any(
                    (ROOT / inner.replace(".", "/")).with_suffix(suffix).exists()
                    for suffix in (".py", "")
                )
                yield (inner if is_module else node.module), node.lineno


def _is_below(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(f"{prefix}.")


def _layer(module: str) -> str:
    return max((name for name in ALLOWED if _is_below(module, name)), key=len)


def _wrong_arrows() -> list[str]:
    wrong = []
    for module, path in _modules():
        layer = _layer(module)
        for target, line in _imports(path):
            if not any(_is_below(target, package) for package in PACKAGES):
                continue
            allowed = any(_is_below(target, prefix) for prefix in ALLOWED[layer])
            if not allowed and _layer(target) != layer:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {module} must not import {target}")
    return wrong


def test_imports_follow_the_layers():
    assert _wrong_arrows() == []


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [
        ("agents", ("django", "mcp", "celery")),
        ("mcp_bridge", ("django", "celery")),
        ("config", ("django", "celery", "mcp")),
    ],
)
def test_pure_packages_know_no_framework(package: str, forbidden: tuple[str, ...]):
    found = [
        f"{module}: {target}"
        for module, path in _modules()
        if _is_below(module, package)
        for target, _ in _imports(path)
        if any(_is_below(target, name) for name in forbidden)
    ]

    assert found == []


def test_only_the_queue_sends_to_celery():
    speakers = ("investigations.queue", "investigations.tasks", "tarsy.celery", "tarsy.worker",
                "tarsy.beat", "tarsy.results")  # fmt: skip
    found = [
        module
        for module, path in _modules()
        for target, _ in _imports(path)
        if _is_below(target, "celery") and module not in speakers
    ]

    assert found == []
