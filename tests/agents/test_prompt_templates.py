"""No template glues, tears or leaves anything open, whatever it is filled with."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from jinja2 import meta

from agents.prompts import (
    AgentFindings,
    Alert,
    ChatInput,
    ChatStage,
    Exchange,
    ExecutiveSummaryInput,
    PromptInput,
    Skill,
    StageResult,
    SynthesisInput,
    TimelineItem,
    build_chat,
    build_investigation,
    build_synthesis,
)
from agents.prompts.day import describe_day
from agents.prompts.inputs import BUILT_IN_HOLIDAYS
from agents.prompts.nudges import ALERTS_CHANGED, CALL_BY_TEXT, TOOLS_CHANGED, ServerNews
from agents.prompts.rendering import TEMPLATES, _load_environment, render
from agents.prompts.tools import describe_tools
from agents.recall import RECALL_SPEC
from agents.types import ToolSpec
from tests.agents.prompt_rules import find_faults
from tests.cases import for_each

NAMES = sorted(
    path.relative_to(TEMPLATES).as_posix().removesuffix(".md.j2")
    for path in TEMPLATES.rglob("*.j2")
)
NOW = datetime(2026, 11, 27, 3, 5, tzinfo=UTC)
CHRISTMAS = datetime(2026, 12, 25, 3, 5, tzinfo=UTC)
TEXT = "a text of\n\n\ntwo  paragraphs "
ALERT = Alert("disk", TEXT)
TOOL = ToolSpec("ops.read", "ops__read", "Reads. ", {"type": "object", "properties": {"x": {}}})
STAGES = ((), (StageResult("triage", TEXT), StageResult("logs", "")))
ITEMS = (TimelineItem("tool_call", TEXT), TimelineItem("response", TEXT, is_broken_off=True))
AGENTS = (
    AgentFindings("Alpha", "langchain", "m", "completed", ITEMS),
    AgentFindings("Beta", "langchain", "m", "failed", (), error=TEXT),
)
EXCHANGES = ((), (Exchange("ana", "Why?", "So.", ITEMS), Exchange("ben", "And now?", "")))
SAID = ([], [("ops", "One host."), ("kube", "First line.\n\nSecond.")])
CHATS = [
    ChatInput("Chat", NOW, ALERT, stages, "ana", "And now?", exchanges)
    for stages in ((), (ChatStage("look", "completed", AGENTS),))
    for exchanges in EXCHANGES
]
REASONS = ("empty", "empty_answer", "tool_name", "no_action", "no_action_or_answer")

NEWS = (
    (),
    (
        ServerNews("db", ("db__query",), ("drop",), "Ask it first.", TEXT),
        ServerNews("logs", ("x",)),
    ),
)

FILLINGS: Mapping[str, Sequence[Any]] = {
    "tools/changed.head": [TOOLS_CHANGED],
    "tools/changed.joined": NEWS,
    "tools/changed.left": NEWS,
    "tools/changed.changed": NEWS,
    "tools/changed.described": ["", "### Tools"],
    "every_agent/name.name": ["Alpha"],
    "result_summary/task.name": ["ops.read"],
    "synthesis/findings.prompt": [SynthesisInput("Joiner", NOW, ALERT, "look", AGENTS)],
    "executive_summary/task.prompt": [ExecutiveSummaryInput("Summary", TEXT)],
    "chat/history.prompt": CHATS,
    "chat/task.prompt": CHATS,
    "every_agent/instructions.instructions": ["", "Mind the disks.\n\nAnd inodes."],
    "nudges/broken_answer.reason": ["It stalled."],
    "nudges/react_format.reason": REASONS,
    "nudges/incident_news.head": [ALERTS_CHANGED],
    "nudges/incident_news.groups": [
        [("These alerts have joined", ("Disk full", "Disk slow"), 3), ("These are over", (), 0)],
    ],
    "nudges/incident_news.firing": [2],
    "nudges/incident_news.is_over": [False, True],
    "nudges/incident_news.over_since": ["2026-11-27 03:05:00 UTC"],
    "nudges/incident_news.must_conclude": [False, True],
    "nudges/call_by_text.head": [CALL_BY_TEXT],
    "nudges/call_by_text.rules": ["## The form of your answers"],
    "nudges/call_by_text.tools": ["", "## Tools"],
    "alert": [ALERT, Alert("disk", "full", {"Runbook": "https://example.com"})],
    "arguments": ['{"path": "/"}'],
    "calls_at_once": [False, True],
    "can_recall": [False, True],
    "completed": [1],
    "conversation": ["", TEXT],
    "day": [describe_day(moment, BUILT_IN_HOLIDAYS) for moment in (NOW, CHRISTMAS)],
    "excerpt": ["", TEXT],
    "has_tools": [False, True],
    "is_reader": [False, True],
    "is_synthesis": [False, True],
    "items": [(), ITEMS],
    "iterations": [1, 20],
    "label": ["history"],
    "max_tokens": [1_000],
    "names": [[], ["ops"], ["kube", "ops"]],
    "output": [TEXT],
    "problem": ["", TEXT],
    "provider_tools": ["", "search the web"],
    "result": ["report"],
    "runbook": ["", TEXT],
    "said": SAID,
    "server": ["ops"],
    "servers": [(), describe_tools((TOOL, RECALL_SPEC))],
    "shows_type": [False, True],
    "skills": [(), (Skill("disks", "Look at inodes."), Skill("nets", "1. Ping.\n2. Trace."))],
    "stages": STAGES,
    "tool": ["read"],
    "unavailable": SAID,
    "words": SAID,
    "written": ["", "pods"],
}


def variables_of(template: str) -> Iterator[str]:
    """What a template has to be given, and those that it includes."""
    source = (TEMPLATES / f"{template}.md.j2").read_text(encoding="utf-8")
    tree = _load_environment().parse(source)
    yield from meta.find_undeclared_variables(tree)
    for included in meta.find_referenced_templates(tree):
        if included is not None and "{% with" not in source:
            yield from variables_of(included.removesuffix(".md.j2"))


def fillings_of(template: str) -> Iterator[dict[str, Any]]:
    names = sorted(set(variables_of(template)))
    choices = [FILLINGS.get(f"{template}.{name}") or FILLINGS[name] for name in names]
    for values in product(*choices):
        yield dict(zip(names, values, strict=True))


@for_each(NAMES)
def test_a_template_is_whole_however_it_is_filled(template: str):
    rendered = [render(template, **filling) for filling in fillings_of(template)]

    assert any(rendered)
    assert {fault for text in rendered for fault in find_faults(text)} == set()


@for_each(NAMES)
def test_no_template_ends_a_line_of_text_with_a_tag_that_takes_the_line_end_away(template: str):
    lines = (TEMPLATES / f"{template}.md.j2").read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if re.search(r"^\s*[^\s{].*%\}$|^\{[^%].*%\}$", line)] == []
    assert [line for line in lines if line != line.rstrip()] == []


FLAGS = list(product([False, True], repeat=5))


@pytest.mark.parametrize("build", ["investigation", "synthesis", "chat"])
def test_the_parts_of_a_prompt_fit_together_however_many_there_are(build: str):
    prompts = [prompt for flags in FLAGS for prompt in fill(build, *flags)]

    faults = {fault for message in prompts for fault in find_faults(message.content)}
    assert faults == set()


def fill(build: str, full: bool, tools: bool, react: bool, native: bool, more: bool):
    common: dict[str, Any] = {
        "runbook": TEXT if full else "",
        "runbook_problem": TEXT if more else "",
        "skills": (Skill("disks", "Look at inodes."),) if full else (),
        "agent_instructions": "Mind the disks." if more else "",
        "provider_tools": ("google_search",) if native else (),
    }
    servers: dict[str, Any] = {
        "server_instructions": dict(SAID[1]) if full else {},
        "server_words": dict(SAID[1]) if more else {},
        "unavailable": {"logs": TEXT} if full else {},
        "has_tools": tools,
        "is_react": react,
        "tools": (TOOL, RECALL_SPEC) if tools and react else (),
    }
    match build:
        case "investigation":
            earlier = STAGES[more]
            prompt = PromptInput("A", NOW, ALERT, previous_stages=earlier, **common, **servers)
            return build_investigation(prompt)
        case "synthesis":
            agents = AGENTS if more else ()
            return build_synthesis(SynthesisInput("A", NOW, ALERT, "look", agents, **common))
    stages = (ChatStage("look", "completed", AGENTS),) if full else ()
    asked = (ALERT, stages, "ana", "And now?", EXCHANGES[more])
    return build_chat(ChatInput("A", NOW, *asked, can_recall=full, **common, **servers))
