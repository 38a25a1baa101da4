"""Sessions as people meet them, and a person who looks."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import expect

from investigations.models import AlertSession, TimelineEvent
from investigations.rendering.markdown import render_markdown
from tests.factories import (
    ExecutionFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
    MessageFactory,
    SessionFactory,
    StageFactory,
    TimelineEventFactory,
    UserFactory,
)
from tests.investigations.pages.browsing import SharedBrowser, Stream

REPORT = """## Conclusion
The basket service passes its memory limit. Confidence: high

## Evidence
1. The pod was killed with exit code 137 [T1].
2. Somebody changed the limit on Monday.
3. The alert says so (alert).

## Next steps
1. Raise the limit: `kubectl set resources deploy/basket --limits=memory=1Gi`

## Not checked
- The node's own memory [T2].

## Ruled out
- Nothing.
"""


@pytest.fixture(scope="session", autouse=True)
def static_root() -> None:
    """WhiteNoise wants its directory, even while it serves from the sources."""
    Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)


@pytest.fixture
def viewer(client: Client) -> Client:
    client.force_login(UserFactory())
    return client


def add_event(execution, kind, content="", status="completed", **metadata):
    session = execution.session
    session.refresh_from_db()
    session.last_seq += 1
    session.save()
    is_markdown = kind in TimelineEvent.MARKDOWN and status == "completed"
    return TimelineEventFactory(
        execution=execution,
        event_type=kind,
        content=content,
        status=status,
        metadata=metadata,
        sequence_number=session.last_seq,
        content_html=render_markdown(content) if is_markdown else "",
    )


def add_tool_call(execution, number, content="137", **metadata):
    known = {
        "tool_number": number,
        "server_name": "ops",
        "tool_name": "query",
        "arguments": {"kind": "pods", "namespace": "checkout"},
        "is_error": False,
        "duration_ms": 120,
    }
    kind = TimelineEvent.Type.LLM_TOOL_CALL
    return add_event(execution, kind, content, **{**known, **metadata})


def add_model_call(execution, *, iteration, at, **fields):
    """A model call that ended at a moment."""
    return LLMInteractionFactory(execution=execution, iteration=iteration, created_at=at, **fields)


def add_traced_tool(execution, number, content, *, at, is_error=False):
    """A tool call on the timeline and on the trace."""
    event = add_tool_call(execution, number, content, is_error=is_error)
    call = MCPInteractionFactory(
        execution=execution,
        tool_number=number,
        duration_ms=410,
        tool_result={"content": content, "is_error": is_error},
        error_message=content if is_error else "",
        created_at=at,
    )
    TimelineEvent.objects.filter(pk=event.pk).update(mcp_interaction_id=call.pk)
    return call


@pytest.fixture
def traced(db: None) -> AlertSession:
    """One agent, two iterations: the second has no price, and its tool call failed."""
    session = SessionFactory(completed=True, title="basket restarts", final_analysis=REPORT)
    stage = StageFactory(
        session=session,
        stage_name="Look",
        status="completed",
        started_at=session.started_at,
        completed_at=session.completed_at,
    )
    execution = ExecutionFactory(
        stage=stage,
        agent_name="inspector",
        completed=True,
        started_at=session.started_at,
        completed_at=session.completed_at,
    )
    result = '{"items": [{"reason": "OOMKilled"}]}'
    said = [
        ("system", "You investigate alerts. " * 200),
        ("user", "basket restarts"),
        ("assistant", ""),
        ("tool", result),
        ("assistant", "It is the memory."),
        ("tool", "range vector expected"),
    ]
    start = session.started_at
    rows = []
    for n, (role, content) in enumerate(said, start=1):
        is_call = role == "assistant"
        rows.append(
            MessageFactory(
                execution=execution,
                role=role,
                content=content,
                created_at=start + timedelta(seconds=2 * n),
                tool_number=n // 2 - 1 if role == "tool" else None,
                tool_calls=[{"id": "1", "name": "ops__query", "arguments": "{}"}]
                if is_call
                else None,
            )
        )
    first, second = rows[2], rows[4]
    add_model_call(
        execution, iteration=1, at=first.created_at, last_message_id=first.pk,
        estimated_cost_usd=0.034,
    )  # fmt: skip
    add_traced_tool(execution, 1, result, at=rows[3].created_at)
    add_model_call(execution, iteration=2, at=second.created_at, last_message_id=second.pk)
    add_traced_tool(execution, 2, said[-1][1], at=rows[5].created_at, is_error=True)
    session.refresh_from_db()
    return session


@pytest.fixture
def finished(db: None) -> AlertSession:
    """Two agents side by side, three tool calls, a report."""
    session = SessionFactory(completed=True, title="basket restarts", final_analysis=REPORT)
    stage = StageFactory(session=session, stage_name="Investigate", completed=True)
    for index in (1, 2):
        execution = ExecutionFactory(
            stage=stage, agent_name=f"inspector-{index}", llm_provider="openai", completed=True
        )
        LLMInteractionFactory(execution=execution, estimated_cost_usd=0.25)
        add_event(execution, TimelineEvent.Type.LLM_THINKING, "Look at the pods first. " * 20)
        add_tool_call(execution, index, is_error=index == 2)
        add_event(
            execution, TimelineEvent.Type.FINAL_ANALYSIS, f"Killed, as **seen** in [T{index}]."
        )
    session.refresh_from_db()
    return session


@pytest.fixture
def answerable(finished: AlertSession) -> AlertSession:
    """The same, of a chain that is configured in the tests of the engine."""
    finished.chain_id = "single"
    finished.save()
    return finished


@pytest.fixture
def running(db: None) -> AlertSession:
    """One agent that writes at this moment."""
    session = SessionFactory(running=True, title="basket restarts")
    stage = StageFactory(session=session, stage_name="Investigate", active=True)
    AlertSession.objects.filter(pk=session.pk).update(current_stage_id=stage.pk)
    execution = ExecutionFactory(stage=stage, agent_name="inspector", active=True)
    add_tool_call(execution, 1)
    add_event(execution, TimelineEvent.Type.LLM_RESPONSE, "The pod", status="streaming")
    session.refresh_from_db()
    return session


@pytest.fixture
def stream() -> Stream:
    return Stream()


@pytest.fixture(scope="module")
def shared_browser() -> Iterator[SharedBrowser]:
    shared = SharedBrowser()
    yield shared
    shared.end()


@pytest.fixture
def page(settings, live_server, request, stream, shared_browser) -> Iterator[object]:
    """A page that fails its test on any console message, error or refused content."""
    expect.set_options(timeout=60_000)
    settings.TARSY_AUTH = "none"
    options = {"viewport": {"width": 1440, "height": 900}, **getattr(request, "param", {})}
    with shared_browser.taken() as browser:
        page = browser.new_page(base_url=live_server.url, **options)
        said: list[str] = []
        expected: list[str] = []
        page.told_to_expect = expected.append
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.route_web_socket("**/api/v1/ws", stream.accept)
        yield page
    unexpected = [text for text in said if not any(words in text for words in expected)]
    assert unexpected == []
