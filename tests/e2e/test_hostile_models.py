"""What a model writes is data: none of it may lose an investigation or reach a row broken."""

import json

import pytest
from django.test import Client

from investigations.models import AlertSession, MCPInteraction, Message, TimelineEvent
from tests.e2e.conftest import Play, submit, wait_until_ended
from tests.e2e.scripts import ANSWERS
from tests.processes import Process

pytestmark = pytest.mark.worker

REPORT = "## Conclusion\\nThe load is normal. Confidence: high"


def investigate(play: Play, first: dict[str, object]) -> AlertSession:
    """One session whose model answers `first`, then concludes."""
    play(
        "rules:\n"
        + ANSWERS
        + f"  - {{when: {{turn: 0}}, reply: {json.dumps(first)}}}\n"
        + f'  - reply: {{text: "{REPORT}"}}\n'
    )
    return wait_until_ended(submit("single"))


@pytest.mark.parametrize("bad", ["\x00", "\ud800", "\udc00x"], ids=["nul", "high", "low"])
def test_characters_no_database_takes_are_replaced_wherever_a_model_writes_them(
    worker: Process, play: Play, bad: str
):
    session = investigate(
        play,
        {
            "thinking": f"think{bad}ing",
            "text": f"look{bad}ing",
            "tool_calls": [
                {"name": f"ops__met{bad}rics", "arguments": {"a": f"lo{bad}ad"}, "id": f"c{bad}"},
                {"name": "ops__metrics", "arguments": f'{{"action": "lo{bad}ad"}}'},
            ],
        },
    )

    assert session.status == "completed", session.error_message
    texts = TimelineEvent.objects.filter(session=session).values_list("content", flat=True)
    assert any(text.startswith("look\ufffd") for text in texts)
    assert session.executions.get(agent_name="Alpha").attempt == 1


def test_an_answer_with_two_hundred_calls_and_absurd_names_gets_two_hundred_results(
    worker: Process, play: Play
):
    names = [
        "",
        "a.b.c",
        "ops__" + "x" * 700,
        "\u202eops__metrics",
        "ops__",
        "__",
        "ops.metrics",
    ]
    calls = [
        {"name": names[n % len(names)], "arguments": "[" * 50, "id": "one"} for n in range(200)
    ]

    session = investigate(play, {"tool_calls": calls})

    assert session.status == "completed", session.error_message
    # A call without a name is none.
    proposed = [call for call in calls if call["name"]]
    results = Message.objects.filter(session=session, role="tool", stage__stage_index=1)
    assert results.count() == len(proposed)
    kept = MCPInteraction.objects.filter(session=session, interaction_type="tool_call")
    assert kept.count() == len(proposed)


def test_a_megabyte_of_arguments_is_a_failed_call_and_no_failed_investigation(
    worker: Process, play: Play
):
    arguments = json.dumps({"action": "load", "more": "x" * 1_000_000})
    calls = [{"name": "ops__metrics", "arguments": arguments}]

    session = investigate(play, {"tool_calls": calls, "chunk_size": 100_000})

    assert session.status == "completed", session.error_message
    kept = MCPInteraction.objects.get(session=session, interaction_type="tool_call")
    assert kept.tool_result["is_error"] is True


def test_an_answer_that_does_not_end_is_ended(worker: Process, play: Play):
    words = " ".join(str(number) for number in range(400_000))

    session = investigate(play, {"text": words, "chunk_size": 50_000})

    assert session.status == "failed"
    assert "too long" in session.error_message
    assert session.llm_interactions.count() == 1


def test_a_long_answer_of_many_words_breaks_no_search(worker: Process, play: Play, settings):
    settings.TARSY_AUTH = "none"
    words = " ".join(str(number) for number in range(140_000))
    session = investigate(
        play,
        {
            "text": f"needle {words}",
            "tool_calls": [{"name": "ops__metrics", "arguments": {"action": "load"}}],
            "chunk_size": 50_000,
        },
    )

    answer = Client(headers={"host": "localhost"}).get("/api/v1/sessions?search=needle")

    assert answer.status_code == 200
    assert [found["id"] for found in answer.json()["sessions"]] == [str(session.pk)]
