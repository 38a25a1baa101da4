"""What a model is told, and what stands where."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from agents.prompts import (
    AgentFindings,
    Alert,
    ChatInput,
    ExecutiveSummaryInput,
    PromptInput,
    Skill,
    StageResult,
    SynthesisInput,
    TimelineItem,
    build_chat,
    build_executive_summary,
    build_investigation,
    build_synthesis,
)
from agents.types import ToolSpec

FRIDAY = datetime(2026, 11, 27, 3, 5, tzinfo=UTC)
FENCED = re.compile(r"<<<outside ([0-9a-f]{16}) [^\n]*>>>\n.*?\n<<<end outside \1>>>", re.DOTALL)
OUTSIDE = ("OUT-TYPE", "OUT-DATA", "OUT-META", "OUT-RUNBOOK", "OUT-SERVER", "OUT-ERROR", "OUT-PAST")


PROMPT = PromptInput(
    agent_name="HostAgent",
    now=FRIDAY,
    alert=Alert("OUT-TYPE", "OUT-DATA {{ 7 * 7 }}", {"Author": "OUT-META"}),
    runbook="OUT-RUNBOOK",
    server_instructions={"ops": "Ask ops for one host at a time."},
    server_words={"ops": "OUT-SERVER"},
    unavailable={"kubernetes": "OUT-ERROR"},
    skills=(Skill("disks", "Look at inodes too."),),
    agent_instructions="You know storage.",
    previous_stages=(StageResult("triage", "OUT-PAST"), StageResult("logs", "")),
)


def test_what_came_from_outside_is_fenced_and_never_in_the_system_message():
    system, user = build_investigation(PROMPT)

    assert (system.role, user.role) == ("system", "user")
    unfenced = FENCED.sub("", user.content)
    for text in OUTSIDE:
        assert text not in system.content
        assert text in user.content
        assert text not in unfenced


def test_an_alert_is_never_read_as_a_template():
    _, user = build_investigation(PROMPT)

    assert "OUT-DATA {{ 7 * 7 }}" in user.content


def test_the_system_message_has_its_tiers_in_order():
    system, _ = build_investigation(PROMPT)

    places = [
        system.content.index(text)
        for text in (
            "Agent: HostAgent",
            "03:05 UTC",
            "## Evidence",
            "## Conclusion",
            "Ask ops for one host at a time.",
            "could not be reached: kubernetes",
            "Look at inodes too.",
            "You know storage.",
            "Your task is to investigate",
        )
    ]
    assert places == sorted(places)


def test_earlier_stages_are_passed_on_between_their_marks():
    _, user = build_investigation(PROMPT)

    context = user.content.split("<!-- CHAIN_CONTEXT_START -->")[1]
    context = context.split("<!-- CHAIN_CONTEXT_END -->")[0]
    assert "### Stage 1: triage" in context
    assert "### Stage 2: logs\n\n(No final analysis produced)" in context


def test_empty_parts_leave_no_headings_behind():
    system, user = build_investigation(
        replace(
            PROMPT,
            runbook="",
            server_instructions={"ops": " "},
            server_words={"ops": " "},
            unavailable={},
            skills=(),
            agent_instructions="",
            previous_stages=(),
        )
    )

    for heading in (
        "Pre-loaded Skills",
        "Agent-Specific",
        "navailable",
        "Instructions",
        "## What tool servers",
    ):
        assert heading not in system.content + user.content
    assert "There is no runbook" in user.content
    assert "This is the first stage" in user.content
    assert "\n\n\n" not in system.content + user.content


def test_a_runbook_that_could_not_be_had_is_told_with_its_reason_fenced():
    _, user = build_investigation(replace(PROMPT, runbook_problem="OUT-REASON"))
    _, bare = build_investigation(replace(PROMPT, runbook="", runbook_problem="OUT-REASON"))

    for content in (user.content, bare.content):
        assert "could not be had" in content
        assert "OUT-REASON" in content
        assert "OUT-REASON" not in FENCED.sub("", content)
        assert "There is no runbook" not in content
        assert "\n\n\n" not in content
    assert "OUT-RUNBOOK" in user.content
    assert "RUNBOOK_START" not in bare.content


def test_an_agent_without_tools_is_not_told_to_use_them():
    system, user = build_investigation(replace(PROMPT, has_tools=False))

    assert "Use the tools" not in system.content
    assert "live system" not in user.content


def test_a_model_without_tool_calling_is_told_the_form_and_the_tools():
    arguments = {
        "type": "object",
        "required": ["action"],
        "properties": {
            "action": {"type": "string", "enum": ["logs", "tail"], "description": "OUT-ARGUMENT"},
            "lines": {"type": "integer", "minimum": 1, "maximum": 500, "default": 50},
            "units": {"type": "array", "items": {"type": "string"}},
            "range": {"type": "object", "properties": {"since": {"type": "string"}}},
        },
    }
    tools = (
        ToolSpec("ops.read", "ops__read", "OUT-TOOL", arguments),
        ToolSpec("k8s.pods", "k8s__pods", "", {"type": "object", "properties": {}}),
    )

    system, user = build_investigation(replace(PROMPT, is_react=True, tools=tools))

    assert 'Action: server.tool\nAction Input: {"argument": "value"}' in system.content
    assert "Final Answer: the whole report" in system.content
    assert "several tools at once" not in system.content
    unfenced = FENCED.sub("", user.content)
    assert "- `ops.read`" in unfenced
    assert "- `k8s.pods`" in unfenced
    for text in ("OUT-TOOL", "OUT-ARGUMENT"):
        assert text not in system.content + unfenced
    assert (
        "ops.read: OUT-TOOL\nArguments:\n"
        '- action (one of "logs", "tail", required): OUT-ARGUMENT\n'
        "- lines (integer from 1 to 500, default 50)\n"
        "- units (list of string)\n"
        "- range (object)\n"
        "  - since (string)\n" in user.content
    )
    assert "k8s.pods\nTakes no arguments." in user.content


def test_a_model_without_tool_calling_and_without_tools_is_told_only_how_to_conclude():
    system, user = build_investigation(replace(PROMPT, is_react=True, has_tools=False))

    assert "Final Answer: the whole report" in system.content
    assert "Action" not in system.content
    assert "## Tools" not in user.content


def test_other_models_are_told_of_no_form_but_the_reports():
    system, user = build_investigation(PROMPT)

    assert "Final Answer" not in system.content
    assert "## Tools" not in user.content


@pytest.mark.parametrize(
    ("now", "kind", "staffing"),
    [
        (FRIDAY, "Friday — WEEKDAY", "normal"),
        (datetime(2026, 11, 28, tzinfo=UTC), "Saturday — WEEKEND", "reduced"),
        (datetime(2026, 12, 25, tzinfo=UTC), "GLOBAL_HOLIDAY (Christmas Day)", "reduced"),
        (datetime(2026, 11, 27, 23, tzinfo=timezone(timedelta(hours=-5))), "Saturday", "reduced"),
    ],
)
def test_the_day_is_told_in_utc_with_its_staffing(now, kind, staffing):
    system, _ = build_investigation(replace(PROMPT, now=now))

    assert kind in system.content
    assert f"Staffing: {staffing}" in system.content


def test_a_synthesis_sees_the_whole_work_of_every_agent():
    findings = (
        AgentFindings(
            "Disks",
            "langchain",
            "lab-1",
            "completed",
            (
                TimelineItem("thinking", "hm"),
                TimelineItem("tool_call", "[T1] ops.storage\n94 %"),
                TimelineItem("final_analysis", "It is the disk [T1]."),
            ),
        ),
        AgentFindings("Network", "langchain", "lab-1", "failed", (), error="no answer"),
    )
    prompt = SynthesisInput(
        "SynthesisAgent", FRIDAY, Alert("T", "data"), "look", findings, "the runbook"
    )

    system, user = build_synthesis(prompt)

    assert '### Parallel Investigation: "look" — 1/2 agents succeeded' in user.content
    assert "#### Agent 1: Disks (langchain, lab-1)" in user.content
    unfenced = FENCED.sub("", user.content)
    for text in ("94 %", "It is the disk", "no answer", "the runbook"):
        assert text in user.content
        assert text not in unfenced
    assert "**Alert Type:**" not in user.content
    assert "## Ruled out" in system.content


def test_a_summary_is_made_of_the_report_alone():
    system, user = build_executive_summary(
        ExecutiveSummaryInput("ExecSummaryAgent", "The disk is full.")
    )

    assert "one to four lines" in system.content
    assert "The disk is full." not in FENCED.sub("", user.content)


def test_a_question_to_a_model_without_tool_calling_comes_with_the_form_and_the_tools():
    tool = ToolSpec("ops.read", "ops__read", "OUT-TOOL", {"type": "object"})
    prompt = ChatInput(
        "ChatAgent",
        FRIDAY,
        Alert("host", "full"),
        (),
        "ana",
        "And now?",
        is_react=True,
        tools=(tool,),
    )

    system, user = build_chat(prompt)

    assert "Final Answer: the whole answer" in system.content
    assert "- `ops.read`" in FENCED.sub("", user.content)
    assert "OUT-TOOL" not in FENCED.sub("", user.content)
