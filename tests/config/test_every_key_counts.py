"""Every key of the schema is read by code, or the check of a configuration says that it is not.

A name that only one block has is proved by any attribute of that name in the product. One that
several blocks share is proved by watching the settings of agents being resolved, or by naming the
place that reads it.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import get_args, get_origin

import pytest
from pydantic import BaseModel

from config.checks import support
from config.checks.shape import _parts
from config.resolve import (
    executions_of,
    resolve_agent,
    resolve_chat,
    resolve_executive_summary,
    resolve_synthesis,
    success_policy_of,
)
from config.schema.fields import Block
from config.schema.files import Files
from config.usage import default_tools, providers_in_use
from tests.cases import for_each
from tests.config.conftest import ENVIRON
from tests.config.test_valid import FULL, SKILL
from tests.test_dependencies import PRODUCT

ROOT = Path(__file__).parents[2]
SHOWING_ONLY = ("selectors/configuration/",)
JUDGING_ONLY = ("config/schema/", "config/checks/", "config/check.py")

READ_AT = {
    "GithubConfig.token_env": ("investigations/engine/runbook_reading.py", "github.token_env"),
    "SlackConfig.enabled": ("investigations/services/notices.py", "slack.enabled"),
    "SlackConfig.token_env": ("investigations/services/notices.py", "slack.token_env"),
    "CostEstimationConfig.enabled": (
        "investigations/services/step_rows.py", "estimation.enabled"),
    "CostEstimationConfig.model_rates": ("config/schema/system.py", "self.model_rates"),
    **{
        f"RateConfig.{name}": ("config/schema/system.py", f"rate.{name}")
        for name in ("input_per_million", "output_per_million")
    },
    **{
        f"LimitsConfig.{kind}": (
            "investigations/access/limits.py", "getattr(get_config().system.limits")
        for kind in ("alerts", "requests", "questions", "decisions")
    },
    "HolidayConfig.name": ("investigations/engine/agent_tasks.py", "each.name"),
    "TransportConfig.type": ("mcp_bridge/transports.py", "transport.type"),
    "DataMaskingConfig.enabled": ("masking/masker.py", "rules.enabled"),
    "AlertMaskingConfig.enabled": ("investigations/maskers.py", "settings.enabled"),
    "AgentConfig.description": ("config/checks/references.py", 'agent.text_at("description")'),
    **{
        f"{block}.{name}": ("investigations/incidents/grouping.py", read)
        for block, name, read in (
            ("IncidentsConfig", "group_by", "rules.group_by"),
            ("IncidentsConfig", "group_wait", "rules.group_wait"),
            ("RouteConfig", "match", "all_match(route.match"),
            ("RouteConfig", "alert_type", "route.alert_type"),
            ("RouteConfig", "group_by", "route.group_by"),
            ("RouteConfig", "group_wait", "route.group_wait"),
        )
    },
    **{
        f"MaintenanceConfig.{name}": ("investigations/incidents/holding.py", f"each.{name}")
        for name in ("name", "match")
    },
    **{
        f"MaintenanceConfig.{name}": ("config/schema/incidents.py", f"self.{name}")
        for name in ("start", "end", "begins", "zone")
    },
    "IncidentsConfig.budgets": ("config/schema/incidents.py", "self.budgets"),
    "ChainConfig.description": ("investigations/api/alerts.py", "chain.description"),
    "MCPServerConfig.trust_annotations": ("config/schema/servers.py", "self.trust_annotations"),
    "MCPServerConfig.tool_call_timeout": ("mcp_bridge/connection.py", "server.tool_call_timeout"),
    "MCPServerConfig.tool_call_limit": ("mcp_bridge/connection.py", "server.tool_call_limit"),
    "DefaultSummarizationConfig.llm_backend": ("config/resolve.py", "default.llm_backend"),
    "StageConfig.name": ("investigations/chain_plan.py", "stage.name"),
    "AlertSourceConfig.alerts": ("investigations/sources/generic.py", "mapped.alerts"),
    "AlertSourceConfig.start": ("investigations/sources/generic.py", "mapped.start"),
    "DefaultsConfig.alert_type": ("config/model.py", "self.defaults.alert_type"),
    "DefaultsConfig.runbook": ("investigations/engine/briefing.py", "config.defaults.runbook"),
    "AlertSourceConfig.runbook": ("investigations/sources/generic.py", "mapped.runbook"),
    "AlertSourceConfig.alert_type": (
        "investigations/services/incidents/taking.py", "own.alert_type"),
    "Files.agent_chains": ("config/check.py", "files.agent_chains"),
    "Files.agents": ("config/check.py", "files.agents"),
    "Files.mcp_servers": ("config/check.py", "files.mcp_servers"),
    "StageAgentConfig.name": ("config/resolve.py", "stage_agent.name"),
    "NativeToolsConfig.google_search": ("config/schema/agents.py", "getattr(self, name)"),
    "NativeToolsConfig.code_execution": ("config/schema/agents.py", "getattr(self, name)"),
    "NativeToolsConfig.url_context": ("config/schema/agents.py", "getattr(self, name)"),
    "LLMProviderConfig.model": ("investigations/engine/language_models.py", "provider.model"),
    "LLMProviderConfig.api_key_env": ("config/schema/providers.py", "self.api_key_env"),
    "LLMProviderConfig.api_key_optional": ("config/schema/providers.py", "self.api_key_optional"),
    "LLMProviderConfig.project_env": ("config/schema/providers.py", "self.project_env"),
    "LLMProviderConfig.location_env": ("config/schema/providers.py", "self.location_env"),
    "LLMProviderConfig.base_url": ("investigations/engine/language_models.py", "provider.base_url"),
    **{
        f"{block}.{key}": ("investigations/engine/language_models.py", f"provider.{key}")
        if block == "LLMProviderConfig"
        else ("config/check.py", "getattr(defaults, key)")
        for block in ("LLMProviderConfig", "DefaultsConfig")
        for key in ("llm_call_timeout", "first_token_timeout", "silence_timeout",
                    "retry_after_limit", "max_retries")
    },
    "DefaultsConfig.tool_call_timeout": ("config/check.py", "getattr(defaults, key)"),
    "DefaultsConfig.tool_call_limit": ("config/check.py", "getattr(defaults, key)"),
}  # fmt: skip
"""Which file reads a key whose name other blocks have too, or that is read by its name."""
WORDS_FOR_PEOPLE = {"CustomPattern.description"}
"""What stands in the file to be read there."""


def every_key(
    block: type[BaseModel] = Files, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, type[BaseModel], str]]:
    for name, field in block.model_fields.items():
        here = (*path, name)
        yield ".".join(here), block, name
        for part in _parts(field.annotation):
            below, steps = _unfold(part)
            if below is not None:
                yield from every_key(below, (*here, *steps))


def _unfold(part: object) -> tuple[type[BaseModel] | None, tuple[str, ...]]:
    steps: tuple[str, ...] = ()
    while (origin := get_origin(part)) is tuple or (
        isinstance(origin, type) and issubclass(origin, Mapping)
    ):
        inner = [arg for arg in get_args(part) if arg is not Ellipsis][-1]
        part, steps = _parts(inner)[0], (*steps, "*")
    is_block = isinstance(part, type) and issubclass(part, BaseModel)
    return (part if is_block else None), steps


def is_named(pattern: str) -> bool:
    marks = {*support.SWITCHED, *support.PRESENT, *support.WITHOUT_EFFECT}
    return any(pattern == mark or pattern.startswith(f"{mark}.") for mark in marks)


@cache
def attributes_read() -> frozenset[str]:
    files = [file for folder in PRODUCT for file in (ROOT / folder).rglob("*.py")]
    kept = [
        file
        for file in files
        if not any(part in str(file) for part in (*SHOWING_ONLY, *JUDGING_ONLY))
    ]
    return frozenset(
        node.attr
        for file in kept
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    )


@cache
def shared_names() -> frozenset[str]:
    owners: dict[str, set[type[BaseModel]]] = {}
    for _, block, name in every_key():
        owners.setdefault(name, set()).add(block)
    return frozenset(name for name, blocks in owners.items() if len(blocks) > 1)


@pytest.fixture
def watched(check_files, monkeypatch) -> set[str]:
    """What is read of a configuration that says everything, while its agents are resolved."""
    environ = ENVIRON | {"SLACK_BOT_TOKEN": "invented", "REMOTE_TOKEN": "invented-remote"}
    config = check_files(FULL, environ=environ, dns=SKILL).config
    seen: set[str] = set()
    own = Block.__getattribute__

    def watch(block: Block, name: str) -> object:
        caller = sys._getframe(1).f_code.co_filename
        if name in type(block).model_fields and "config/checks" not in caller:
            seen.update(f"{owner.__name__}.{name}" for owner in type(block).__mro__)
        return own(block, name)

    monkeypatch.setattr(Block, "__getattribute__", watch)
    for chain in config.chains.values():
        resolve_chat(config, chain)
        resolve_executive_summary(config, chain)
        default_tools(config, chain)
        for stage in chain.stages:
            success_policy_of(config, stage)
            resolve_synthesis(config, chain, stage)
            for agent in executions_of(stage):
                resolve_agent(config, chain=chain, stage=stage, stage_agent=agent)
    providers_in_use(config)
    assert all(chain.chat.enabled is not None for chain in config.chains.values())
    return seen


def test_every_key_is_read_by_code_or_named_as_one_that_has_no_effect(watched):
    unproved = []
    for pattern, block, name in every_key():
        key = f"{block.__name__}.{name}"
        if is_named(pattern) or key in watched or key in WORDS_FOR_PEOPLE:
            continue
        if key in READ_AT:
            continue
        if name in shared_names() or name not in attributes_read():
            unproved.append(f"{pattern} ({key})")

    assert unproved == [], unproved


@for_each(READ_AT.items(), name=lambda row: row[0])
def test_what_is_read_by_name_is_read_where_it_is_said(row: tuple[str, tuple[str, str]]):
    _, (file, words) = row

    text = (ROOT / file).read_text(encoding="utf-8")

    assert words in text, f"{words} does not stand in {file}"


def test_no_key_that_is_read_is_named_as_one_without_effect():
    for pattern in support.WITHOUT_EFFECT:
        name = pattern.rsplit(".", 1)[1]
        if pattern == "system.dashboard_url":
            continue  # named for what it does not do

        assert name in shared_names() or name not in attributes_read(), pattern


def test_every_mark_stands_for_a_key_of_the_schema():
    known = {pattern for pattern, _, _ in every_key()}
    marks = {*support.SWITCHED, *support.PRESENT, *support.WITHOUT_EFFECT}
    values = {pattern for pattern, _ in support.VALUES}

    assert {mark for mark in marks | values if mark not in known} == set()


SAYS_ALL = """\
defaults:
  scoring: {enabled: true}
  memory: {enabled: true}
  orchestrator: {max_concurrent_agents: 1}
system:
  dashboard_url: https://board.example.com
  cost_estimation:
    promotions: [{model: m, end: 2026-03-01, input_per_million: 0, output_per_million: 0}]
  retention: {cleanup_interval: 6h}
queue:
  worker_count: 3
  graceful_shutdown_timeout: 1m
  scoring_shutdown_timeout: 1m
  orphan_detection_interval: 1m
  orphan_threshold: 2m
  heartbeat_interval: 1m
agents:
  A:
    type: action
    description: d
    skills: [dns]
    orchestrator: {max_budget: 1m}
  S: {type: scoring}
agent_chains:
  c:
    alert_types: [c]
    scoring: {enabled: true}
    sub_agents: [A]
    chat: {enabled: true, agent: ChatAgent, sub_agents: [A]}
    stages:
      - name: s
        sub_agents: [A]
        agents:
          - {name: A, type: action, skills: [dns], sub_agents: [A]}
          - {name: S, type: scoring}
"""


def test_each_key_and_value_without_effect_is_named_where_it_is_written(check_files):
    report = check_files(SAYS_ALL, "", {}, dns=SKILL)

    told = [str(warning) for warning in report.warnings]
    assert report.mistakes == ()
    for mark in (
        *support.SWITCHED, *support.PRESENT, *support.WITHOUT_EFFECT,
        *(pattern for pattern, _ in support.VALUES),
    ):  # fmt: skip
        name = mark.rsplit(".", 1)[1]
        assert any(f".{name}: " in line for line in told), mark
    assert any("skills/dns/SKILL.md:1: dns: this skill is never loaded" in line for line in told)
    assert any("no agent can load dns from here" in line for line in told)


def test_a_skill_that_an_agent_at_work_requires_is_not_named(check_files):
    text = SAYS_ALL.replace("skills: [dns]\n", "required_skills: [dns]\n")

    report = check_files(text, "", {}, dns=SKILL)

    assert "never loaded" not in "\n".join(map(str, report.warnings))


def test_what_works_is_named_nowhere(check_files):
    works = "system: {allowed_ws_origins: ['https://a.example.com'], holidays: []}\n"

    report = check_files(works + "queue: {max_queue_size: 5}\n", "", {})

    assert report.warnings == ()
