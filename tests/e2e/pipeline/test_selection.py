"""An alert that chooses its tools gets these and no others, in every stage and in the chat."""

import httpx
import pytest

from investigations.models import AlertSession, MCPInteraction, Stage, TimelineEvent
from tests.e2e.conftest import Play, wait_until_ended
from tests.e2e.test_live import Web, post_alert
from tests.gemini_server import GeminiServer
from tests.processes import Process, wait_for

pytestmark = [pytest.mark.worker, pytest.mark.timeout(300)]

SCRIPT = """
rules:
  - when: {tools: [archive__echo], turn: 0}
    reply: {tool_calls: [{name: archive__echo, arguments: {text: fine}}]}
  - when: {agent: ^Gatherer, tools: [ops__metrics], turn: 0}
    reply: {tool_calls: [{name: ops__metrics, arguments: {action: load}}]}
  - reply: {text: "## Conclusion\\n{{ agent }} found nothing. Confidence: low"}
"""
AGENTS = {"Gatherer", "Checker", "ChatAgent"}


def investigate(web: Web, chosen: dict[str, object]) -> AlertSession:
    body = {"alert_type": "native", "data": "the load is high", "mcp": chosen}
    session = wait_until_ended(post_alert(web, body), within=120)
    assert (session.status, session.error_message) == ("completed", "")
    url = f"{web.url}/api/v1/sessions/{session.pk}/chat/messages"
    answer = httpx.post(url, json={"content": "Is it still so?"}, timeout=20)
    stage = Stage.objects.filter(pk=answer.json()["stage_id"], status="completed")
    wait_for(stage.exists, within=60, what="the answer")
    return session


def prompts_of(rehearsal) -> dict[str, str]:
    """The opening of each agent that may have tools."""
    return {
        request.agent: "\n".join(message["content"] for message in request.body["messages"][:2])
        for request in rehearsal.requests
        if request.turn == 0 and request.agent in AGENTS
    }


def test_native_tools_alone_reach_the_model_in_place_of_every_server(
    pipeline_worker: Process, web: Web, play: Play, gemini: GeminiServer
):
    rehearsal = play(SCRIPT)
    gemini.bodies.clear()

    session = investigate(web, {"native_tools": {"google_search": True}})

    assert {request.agent for request in rehearsal.requests} >= AGENTS
    assert len(gemini.bodies) == len(rehearsal.requests)
    for request, body in zip(rehearsal.requests, gemini.bodies, strict=True):
        expected = [{"googleSearch": {}}] if request.agent in AGENTS else None
        assert body.get("tools") == expected
    assert not MCPInteraction.objects.filter(session=session).exists()
    assert not TimelineEvent.objects.filter(
        session=session, event_type="google_search_result"
    ).exists(), "it was withheld"
    for prompt in prompts_of(rehearsal).values():
        assert "ops Instructions" not in prompt
        assert "archive Instructions" not in prompt


def test_chosen_servers_and_tools_replace_the_configured_ones_and_their_instructions(
    pipeline_worker: Process, web: Web, play: Play
):
    rehearsal = play(SCRIPT)

    session = investigate(web, {"servers": [{"name": "archive", "tools": ["echo"]}]})

    offered = {
        request.agent: [tool["function"]["name"] for tool in request.body.get("tools", ())]
        for request in rehearsal.requests
        if request.agent in AGENTS
    }
    # Earlier results can be asked for again whatever was chosen.
    offered["ChatAgent"].remove("recall_result")
    assert offered == {name: ["archive__echo"] for name in AGENTS}
    prompts = prompts_of(rehearsal)
    assert prompts.keys() == AGENTS
    for prompt in prompts.values():
        assert "archive Instructions" in prompt
        assert "ops Instructions" not in prompt
    called = MCPInteraction.objects.filter(session=session, interaction_type="tool_call")
    assert set(called.values_list("server_name", "tool_name")) == {("archive", "echo")}
    assert called.count() == len(AGENTS)
