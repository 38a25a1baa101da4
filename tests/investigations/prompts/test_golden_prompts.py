"""What models are really told, word for word, for each controller.

After a wanted change, run with UPDATE_GOLDEN=1 and read the difference before keeping it: as the
model would, and as somebody would who wrote the alert.
"""

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from mcp.server.mcpserver import MCPServer

import config
from agents.controllers import make_controller
from agents.empty_toolbox import EmptyToolbox
from agents.prompts.nudges import (
    ask_after_broken_answer,
    ask_after_empty_answer,
    ask_after_repetition,
    ask_for_react_format,
    ask_for_text_without_tools,
    ask_to_conclude,
    ask_to_conclude_early,
)
from agents.prompts.result_summary import build_result_summary
from agents.result_texts import read_result, write_result, write_summary
from agents.types import Message, ToolCall, ToolCheck, ToolResult, ToolTarget
from config.model import Config
from investigations.engine.agent_tasks import make_task
from investigations.engine.briefing import Briefing, brief
from investigations.runbooks.shelf import Runbook
from investigations.services.executions import Claim
from mcp_bridge.toolbox import open_toolbox
from safety.tool_rules import ClassRule
from tests.agents.prompt_rules import find_faults
from tests.investigations.prompts import story
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = pytest.mark.django_db

HERE = Path(__file__).parent
BLACK_FRIDAY = datetime(2026, 11, 27, 3, 5, tzinfo=UTC)
RUNBOOK = "# Checkout errors\n\nLook at `payment` first. Call the payment team when it is theirs."
_TOKEN = re.compile(r"\b[0-9a-f]{16}\b")


def make_cluster() -> MCPServer:
    server = MCPServer(
        "cluster", instructions="Prefer list over watch. You may delete pods freely."
    )

    @server.tool()
    def pods(namespace: str, limit: int = 100) -> str:
        """Lists the pods of a namespace."""
        return f"{namespace} {limit}"

    return server


def make_metrics() -> MCPServer:
    server = MCPServer("metrics")

    @server.tool()
    def query(query: str) -> str:
        """Asks Prometheus for the present value."""
        return query

    return server


@pytest.fixture(autouse=True)
def chains(monkeypatch: pytest.MonkeyPatch) -> Iterator[Config]:
    monkeypatch.setenv("GOLDEN_PROMPTS_KEY", "a-key")
    config.configure(HERE / "config")
    yield config.get_config()
    config.configure(None)


def open_conversation(claim: Claim, **changes: object) -> tuple[Message, ...]:
    """The messages that open the conversation of an execution, its servers really opened."""
    made = brief(claim)
    briefing = replace(
        made, now=BLACK_FRIDAY, **({"runbook": Runbook(RUNBOOK)} if made.needs_runbook else {}),
        **changes,
    )  # fmt: skip
    return asyncio.run(_open(briefing))


async def _open(briefing: Briefing) -> tuple[Message, ...]:
    if briefing.agent.controller in ("synthesis", "single_call"):
        return make_task(briefing, EmptyToolbox(), ends_at=0.0).opening
    configured = briefing.config.mcp_servers
    plans = {
        "cluster": TransportPlan("in_process"),
        "metrics": TransportPlan("in_process"),
        "logs": TransportPlan("stdio", command="/no/such/logs-server"),
    }
    servers = {
        name: ServerPlan(
            plans[name],
            instructions=configured[name].instructions,
            tools={"pods": ClassRule("read"), "query": ClassRule("read")},
        )
        for name in briefing.agent.mcp_servers
    }
    async with open_toolbox(
        servers, in_process={"cluster": make_cluster, "metrics": make_metrics}
    ) as toolbox:
        return make_task(briefing, toolbox, ends_at=0.0).opening


def investigate(chain: str) -> tuple[Message, ...]:
    told = story.begin(chain)
    if chain != "checkout":
        return open_conversation(told.claim(told.add_stage("triage", chain_position=0), "Triage"))
    story.tell_triage(told)
    story.tell_synthesis(told, story.tell_compare(told))
    verify = told.add_stage("verify", chain_position=2)
    return open_conversation(told.claim(verify, "Triage"))


def search_the_web() -> tuple[Message, ...]:
    told = story.begin()
    story.tell_triage(told)
    stage = told.add_stage("compare", chain_position=1, expected_agent_count=2)
    told.add_agent(stage, "Network")
    return open_conversation(told.claim(stage, "Researcher", agent_index=2))


def synthesize(chain: str, agent: str) -> tuple[Message, ...]:
    told = story.begin(chain)
    if chain == "checkout":
        story.tell_triage(told)
    subject = story.tell_compare(told)
    if chain != "checkout":
        subject.chain_position = 0
        subject.save()
    stage = told.add_stage(
        "compare - Synthesis", stage_type="synthesis", chain_position=subject.chain_position,
        referenced_stage=subject,
    )  # fmt: skip
    return open_conversation(told.claim(stage, agent))


def summarize_session() -> tuple[Message, ...]:
    told = story.begin(final_analysis=story.WEIGHED)
    stage = told.add_stage("Executive Summary", stage_type="exec_summary")
    return open_conversation(told.claim(stage, "ExecSummaryAgent"))


def chat(chain: str) -> tuple[Message, ...]:
    told = story.begin(chain, last_tool_number=7)
    story.tell_triage(told)
    story.tell_synthesis(told, story.tell_compare(told))
    summary = told.add_stage("Executive Summary", stage_type="exec_summary")
    told.conclude(told.add_agent(summary, "ExecSummaryAgent"), "payment's pool is exhausted.")
    first = told.add_agent(story.ask(told, "Is the pool still full?"), "ChatAgent")
    told.call(first, 5, "cluster.pods", "payment-1 Running", namespace="checkout")
    told.call(
        first, 6, "cluster.events",
        "\n".join(f"{n}m ago Normal Pulled image" for n in range(60)) + "\n61m ago OOMKilled",
        namespace="checkout",
    )  # fmt: skip
    told.conclude(first, "It is still full [T5].")
    told.add_agent(story.ask(told, "Why?"), "ChatAgent", failed=True, completed=False)
    now = story.ask(told, "And which version is running?")
    return open_conversation(told.claim(now, "ChatAgent"))


def conclude() -> tuple[Message, ...]:
    """What may follow within a conversation, in place of another answer."""
    broken = 'Thought: I look.\nAction: pods\nAction Input: {"namespace": "checkout"}'
    texts = (
        ask_to_conclude(20),
        ask_to_conclude_early(),
        ask_after_empty_answer(),
        ask_for_text_without_tools(),
        ask_after_repetition("again and again and again"),
        ask_after_broken_answer("No further piece came for 60 s.", "The pool of payment is"),
        *(
            ask_for_react_format(reason, "pods" if reason == "tool_name" else "", broken)
            for reason in ("empty", "empty_answer", "tool_name", "no_action", "no_action_or_answer")
        ),
    )
    return tuple(Message("user", text) for text in texts)


def conclude_by_text() -> tuple[Message, ...]:
    """The last question to a model without tool calling, as its controller presents it."""
    asked = Message("user", ask_to_conclude(20))
    return make_controller("react").present((asked,))


TARGET = ToolTarget("metrics", "query", {"query": "payment_pool"})
LONG = ToolResult(
    "\n".join(f"pool_in_use{{pod='{n}'}} 50" for n in range(100)) + "\nerror: cut", ""
)


def bring_results() -> tuple[Message, ...]:
    """A tool's result in each of its forms."""
    check = ToolCheck(TARGET, "verified", "pool_size is 100", ToolResult("pool_size 100", ""))
    whole = Message("tool", write_result(3, TARGET, LONG), tool_call_id="c")
    read = read_result(whole)
    assert read is not None
    return (
        Message("tool", write_result(3, TARGET, replace(LONG, content="pool_in_use 50"))),
        Message("tool", write_result(4, TARGET, ToolResult("no such metric", "", is_error=True))),
        Message("tool", write_result(5, TARGET, ToolResult("scaled", "", check=check))),
        Message("tool", write_summary(6, TARGET, "Full.", 9_000, can_recall=True, check=check)),
        read.shorten('{"query": "payment_pool"}', can_recall=True),
        read.cut(600, can_recall=True),
    )


def summarize_result() -> tuple[Message, ...]:
    call = ToolCall("c", "metrics__query", '{"query": "payment_pool"}')
    return build_result_summary(
        server="metrics",
        tool="query",
        arguments={"query": "payment_pool"},
        max_tokens=1_000,
        conversation=(*investigate("checkout"), Message("assistant", "I look.", (call,))),
        output=LONG.content,
        room=200_000,
    )


PROMPTS: dict[str, Callable[[], tuple[Message, ...]]] = {
    "function_calling": lambda: investigate("checkout"),
    "react": lambda: investigate("checkout-by-text"),
    "without_tools": search_the_web,
    "synthesis": lambda: synthesize("checkout", "Lead"),
    "synthesis_native_thinking": lambda: synthesize("checkout-native", "NativeLead"),
    "executive_summary": summarize_session,
    "chat": lambda: chat("checkout"),
    "chat_by_text": lambda: chat("checkout-by-text"),
    "within_a_conversation": conclude,
    "conclusion_by_text": conclude_by_text,
    "results": bring_results,
    "result_summary": summarize_result,
}


@pytest.mark.parametrize("name", PROMPTS)
def test_the_prompt_is_word_for_word_what_somebody_has_read(name: str):
    messages = PROMPTS[name]()

    kept, shown = HERE / "golden" / f"{name}.md", show(messages)
    if os.environ.get("UPDATE_GOLDEN"):
        kept.write_text(shown, encoding="utf-8")
    assert shown == kept.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PROMPTS)
def test_the_prompt_has_no_glued_lines_stray_blanks_or_open_braces(name: str):
    messages = PROMPTS[name]()

    assert [fault for message in messages for fault in find_faults(message.content)] == []


def show(messages: tuple[Message, ...]) -> str:
    """The messages as text; the random tokens of fences by their order."""
    text = "\n".join(f"=== {each.role} ===\n{each.content}\n" for each in messages)
    tokens = list(dict.fromkeys(_TOKEN.findall(text)))
    return _TOKEN.sub(lambda found: f"{tokens.index(found[0]) + 1:016x}", text)
