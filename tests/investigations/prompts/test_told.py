"""What an agent is told of what others did, made of the rows."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from investigations.engine.retelling import list_items, shorten_items
from investigations.selectors.findings import (
    exchanges_before,
    findings_before,
    histories_of_stage,
    investigation_of,
)
from tests.investigations.prompts import story

pytestmark = pytest.mark.django_db


def test_a_synthesis_is_told_of_earlier_stages_and_not_of_its_own():
    told = story.begin()
    story.tell_triage(told)
    subject = story.tell_compare(told)
    synthesis = told.add_stage("Synthesis", stage_type="synthesis", referenced_stage=subject)

    found = findings_before(told.session, synthesis)

    assert [each.stage_name for each in found] == ["triage"]


def test_a_later_stage_is_told_of_a_synthesis_in_place_of_what_it_joined():
    told = story.begin()
    story.tell_triage(told)
    story.tell_synthesis(told, story.tell_compare(told))
    later = told.add_stage("verify")

    found = findings_before(told.session, later)

    assert [each.stage_name for each in found] == ["triage", "compare - Synthesis"]


def test_what_the_providers_own_tools_brought_is_told_and_what_was_not_offered_is_not():
    told = story.begin()
    stage = story.tell_compare(told)

    researcher = histories_of_stage(stage.pk)[1]
    items = [(item.kind, item.text.splitlines()[0]) for item in list_items(researcher.events)]

    assert items == [
        ("web_search", "Searched for: pgx pool exhausted after upgrade"),
        ("web_pages", "https://github.com/jackc/pgx/issues/1 (success)"),
        ("code_run", "print(50 / 50)"),
        ("error", story.TOO_LATE),
    ]
    assert researcher in investigation_of(told.session)[0].agents


def test_an_empty_text_is_told_to_nobody_and_one_that_was_cut_says_so():
    told = story.begin()
    agent = told.add_agent(told.add_stage("look"), "Alpha")
    told.tell(agent, "llm_response", " ")
    told.tell(agent, "llm_response", "It is the", broken_off=True)

    items = list(list_items(agent.timeline_events.order_by("sequence_number")))

    assert [(item.title, item.text) for item in items] == [("Said, broken off", "It is the")]


def test_a_call_that_was_stopped_is_told_without_a_result():
    told = story.begin()
    agent = told.add_agent(told.add_stage("look"), "Alpha")
    told.call(agent, 3, "ops.read", "", path="/var")
    agent.timeline_events.update(status="cancelled")

    [item] = list_items(agent.timeline_events.all())

    assert item.text == '[T3] ops.read {"path": "/var"}\n(It was stopped: there is no result.)'


def test_long_results_of_earlier_answers_are_told_in_short_form_with_their_numbers():
    told = story.begin()
    answer = told.add_agent(story.ask(told, "Is it still full?"), "ChatAgent")
    told.call(answer, 5, "ops.read", "94 % used", path="/var")
    told.call(answer, 6, "ops.logs", "a line\n" * 900 + "error: no space left", unit="basket")
    told.tell(answer, "google_search_result", "Searched for: ENOSPC\n" + "Source: x\n" * 400)
    told.tell(answer, "llm_response", "I look.")
    told.conclude(answer, "It is [T5].")
    now = story.ask(told, "Why?")

    [exchange] = exchanges_before(now)
    read, logs, search = shorten_items(exchange.events, can_recall=True)

    assert (exchange.question, exchange.answer) == ("Is it still full?", "It is [T5].")
    assert read.text == '[T5] ops.read {"path": "/var"}\n94 % used'
    head, *lines = logs.text.splitlines()
    assert head.startswith('[T6] ops.logs {"unit": "basket"} [compacted: about ')
    assert "recall_result with number 6 brings it back" in head
    assert "error: no space left" in lines
    assert len(logs.text) < 800
    assert len(search.text) < 1_200


def test_earlier_answers_are_read_in_as_many_queries_for_many_calls_as_for_one():
    told = story.begin()

    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            exchanges_before(now)
        return len(queries)

    answer = told.add_agent(story.ask(told, "One?"), "ChatAgent")
    told.call(answer, 1, "ops.read", "x")
    now = story.ask(told, "Now?")
    with_one = count()
    for number in range(2, 30):
        told.call(answer, number, "ops.read", "x")

    assert count() == with_one
