"""Arrows point one way: every import of ours is checked against the layers of the design."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.import_statements import imports_in

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "tarsy", "config", "masking", "safety", "ops", "agents", "rules", "mcp_bridge",
    "investigations",
)  # fmt: skip

ALLOWED: dict[str, str] = {
    # Rooms at the top. Arrows end in `tarsy.errors`, `tarsy.env` and `masking`.
    "tarsy.errors": "",
    "tarsy.env": "tarsy.errors",
    "tarsy.logs": "masking",
    "tarsy.aio": "",
    "tarsy.uptime": "",
    "tarsy.celery": "",
    "tarsy.setting_readers": "tarsy.env",
    "tarsy.lease_times": "tarsy.env",
    "tarsy.settings": "tarsy.env tarsy.lease_times tarsy.logs tarsy.setting_readers",
    "tarsy.embedded": "tarsy.errors tarsy.env",
    "tarsy": "tarsy agents config investigations masking mcp_bridge ops",
    "masking": "",
    "config": "tarsy.errors tarsy.env",
    "agents": "config tarsy.errors",
    "rules": "config agents.calls agents.citations agents.controllers agents.conversation"
    " agents.offers agents.our_lines agents.ports agents.recall agents.records agents.report"
    " agents.result_texts agents.types safety.refusals",
    "safety": "safety masking agents.citations agents.fencing agents.our_lines agents.report"
    " agents.types agents.ports",
    "ops": "masking safety config.container_detection tarsy.errors",
    "mcp_bridge": "masking safety agents.types agents.ports agents.json_cutting agents.retry_after"
    " config.programs tarsy.errors",
    "mcp_bridge.ops": "ops",
    # Rooms of safety: what the gate, the commands and the grounding share stands on its floor.
    "safety.paths": "safety.word_lists",
    "safety.commands": "masking safety.paths safety.word_lists",
    "safety.grounding": "safety.evidence safety.word_lists agents.citations agents.our_lines"
    " agents.report agents.types",
    # Rooms of the app, from the rows to those who face outward.
    ".models": "",
    ".migrations": "",
    ".roles": "",
    ".apps": ".roles",
    ".chain_plan": "config .models",
    ".maskers": "masking config",
    ".stream_messages": ".models",
    ".doorbell": ".stream_messages",
    ".queue": "tarsy.celery",
    ".runbooks": "tarsy.errors",
    ".rendering": ".maskers .models.foreign_json .stream_messages agents.citations agents.types"
    " agents.provider_check.report safety.refusals",
    ".notifications": ".rendering agents.retry_after tarsy.errors",
    ".selectors": ".models .sources .stream_messages .chain_plan .maskers .rendering.markdown"
    " agents.citations agents.fencing agents.our_lines agents.report agents.types"
    " agents.llm.windows"
    " agents.provider_check.report safety.evidence safety.grounding config tarsy.errors",
    ".access": ".access .models .roles .selectors .services.tokens config tarsy",
    ".sources": "masking config.words tarsy.errors",
    ".incidents": ".sources config",
    ".senders": ".runbooks config.schema.alert_senders config.senders config.words tarsy.errors",
    ".services": ".sources .incidents .models .selectors .stream_messages .doorbell .queue"
    " .chain_plan .maskers .runbooks .notifications .rendering .roles masking agents.our_lines"
    " agents.types agents.records agents.provider_check.report agents.retry_after config"
    " tarsy.errors tarsy.uptime",
    ".stream": ".models .roles .selectors .stream_messages .doorbell .access .rendering config"
    " agents.our_lines"
    " tarsy",
    ".engine": ".models .selectors .services .stream_messages .doorbell .stream.hub .maskers"
    " .runbooks agents rules mcp_bridge ops masking safety config tarsy",
    ".tasks": ".engine .services .queue tarsy.aio",
    ".templatetags": ".models .selectors .rendering agents.citations",
    ".management": ".models .selectors .sources .services .engine.records .engine.own_servers"
    " .engine.provider_checks agents.provider_check.report agents.llm.client .maskers"
    " .rendering .api.parsing mcp_bridge rules.examples ops.envelope ops.records ops.services"
    " safety.commands"
    " safety.tool_rules agents.types config tarsy",
    # Pages, API and administration: services and selectors, and what they speak of.
    "investigations": ".models .roles .selectors .sources .senders .runbooks .services .access"
    " .rendering .stream.fragments .views .api .templatetags agents.types config tarsy",
}
"""What a room may import of ours, by the longest name that fits; a room always sees itself, and a
name that begins with a dot is one of the app."""


def _in_full(name: str) -> str:
    return f"investigations{name}" if name.startswith(".") else name


ROOMS = {
    _in_full(room): tuple(_in_full(name) for name in allowed.split())
    for room, allowed in ALLOWED.items()
}


def _modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


@cache
def _imports(path: Path) -> tuple[tuple[str, int], ...]:
    return tuple(_read_imports(path))


def _read_imports(path: Path) -> Iterator[tuple[str, int]]:
    for node in imports_in(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif node.module:
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
    return max((name for name in ROOMS if _is_below(module, name)), key=len)


def _wrong_arrows() -> list[str]:
    wrong = []
    for module, path in _modules():
        layer = _layer(module)
        for target, line in _imports(path):
            if not any(_is_below(target, package) for package in PACKAGES):
                continue
            allowed = any(_is_below(target, prefix) for prefix in ROOMS[layer])
            if not allowed and _layer(target) != layer:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {module} must not import {target}")
    return wrong


def test_imports_follow_the_layers():
    assert _wrong_arrows() == []


def test_the_rooms_of_the_app_import_in_one_direction():
    rooms: dict[str, set[str]] = {}
    for module, path in _modules():
        if _is_below(module, "investigations"):
            targets = {_room_of_the_app(target) for target, _ in _imports(path)}
            rooms.setdefault(_room_of_the_app(module), set()).update(targets)
    for room, targets in rooms.items():
        targets -= {room, ""}

    # It raises where two rooms import each other, by whatever way round.
    assert list(TopologicalSorter(rooms).static_order())


def _room_of_the_app(module: str) -> str:
    """A folder or a module right below `investigations`; empty for what is elsewhere."""
    return ".".join(module.split(".")[:2]) if module.startswith("investigations.") else ""


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [
        ("agents", ("django", "mcp", "celery")),
        ("rules", ("django", "mcp", "celery")),
        ("masking", ("django", "mcp", "celery")),
        ("safety", ("django", "mcp", "celery")),
        ("ops", ("django", "celery")),
        ("mcp_bridge", ("django", "celery")),
        ("config", ("django", "celery", "mcp")),
        ("investigations.sources", ("django", "celery", "mcp", "rest_framework")),
        ("investigations.incidents", ("django", "celery", "mcp", "rest_framework")),
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
                "tarsy.beat", "tarsy.chord_counter")  # fmt: skip
    found = [
        module
        for module, path in _modules()
        for target, _ in _imports(path)
        if _is_below(target, "celery") and module not in speakers
    ]

    assert found == []
