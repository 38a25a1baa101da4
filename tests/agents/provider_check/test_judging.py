"""What is told of a model that can do less than others, and what is advised for it."""

from typing import Any

import pytest

from agents.llm.settings import ProviderSettings
from agents.provider_check.report import ProviderReport
from agents.provider_check.running import Plan, check_model
from agents.rehearsal.loading import BUILTIN_SCRIPTS, load_scripts
from agents.rehearsal.script import Reply, Rule, Script, When
from agents.types import Usage
from tests.agents.provider_check.checking import check, load_answers
from tests.rehearsal_server import RunningRehearsal, start_rehearsal

pytestmark = pytest.mark.slow


def settings(server: RunningRehearsal, **more: Any) -> ProviderSettings:
    return ProviderSettings("lab", "openai", "lab-1", base_url=server.url, **more)


def answer(name: str, **reply: Any) -> Script:
    """The answers of a model that can do all, but for one."""
    script = load_answers()
    (rule,) = (rule for rule in script.rules if rule.name == name)
    other = Rule(name=name, when=rule.when, reply=Reply.model_validate(reply))
    return script.model_copy(update={"rules": (other, *script.rules)})


async def find(name: str, probe: str, **reply: Any) -> tuple[str, str, ProviderReport]:
    with start_rehearsal(answer(name, **reply), pace=0) as server:
        report = await check(settings(server), probe)
    finding = report.find(probe)
    assert finding is not None
    return finding.outcome, finding.remark, report


CALLS = {"tool_calls": [{"name": "check__look_up", "arguments": {"name": "alpha"}}]}
LESS = [
    ("stream", {"text": "1, 2, 3", "usage": False}, "limited", "does not tell how many tokens"),
    ("stream", {"text": "1, 2, 3", "chunk_size": 100}, "limited", "come in one piece"),
    ("limit", {"text": "1\n2\n3"}, "limited", "ends a cut answer with 'stop' and not 'length'"),
    ("limit", {"text": "1\n400"}, "limited", "takes no notice of the limit"),
    ("limit", {"text": "1\n2\n3", "finish_reason": "max_tokens"}, "works", ""),
    ("long", {"text": "1\n2\n3", "finish_reason": "model_length"}, "limited", "It was cut after"),
    ("long", {"text": "1\n2\n3", "finish_reason": "length"}, "limited", "Raise the output limit"),
    ("long", {"text": "1\n2\n...\n400"}, "limited", "It left numbers out"),
    ("long", {"text": "1\n2\n3"}, "limited", "It broke off or left numbers out: “1 2 3”"),
    ("thinking", {"text": "no"}, "limited", "It shows no thoughts."),
    ("json", {"text": '```json\n{"service": "payments", "replicas": 3}\n```'}, "works", "fences"),
    ("json", {"text": "[" * 40_000}, "limited", "It did not answer with the JSON asked for"),
    ("json", {"text": '</think>\n{"service": "payments", "replicas": 3}'}, "works", ""),
    ("json", {"text": "Here you are: payments"}, "limited", "“Here you are: payments”"),
    ("call", {"text": "The code is 1."}, "fails", "in words where it was to call: “The code is 1"),
    ("call", {"tool_calls": [{"name": "check__look_up", "arguments": "{alpha"}]}, "fails",
     "Its call has other arguments"),
    ("call", {"text": '{"name": "check__look_up", "arguments": {"name": "alpha"}}'}, "limited",
     "writes its calls as text"),
    ("parallel", CALLS, "limited", "one call at a time"),
    ("parallel", {"tool_calls": CALLS["tool_calls"] * 2}, "limited", "have wrong arguments"),
    ("result", {"text": "I see."}, "fails", "did not read the result of its call: “I see.”"),
    ("result", CALLS, "limited", "called the tool once more"),
    ("conclusion", CALLS, "limited", "called a tool where it was to answer"),
    ("react", {"text": "Let me look."}, "fails", "no action in the form it was told"),
    ("overflow", {"text": "I do not know."}, "limited", "forgets where it began"),
    ("overflow", {"text": "Marigold."}, "works", "It reads more than 128,000 tokens"),
    ("overflow", {"error": {"status": 400, "message": "No."}}, "limited", "No."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "reply", "outcome", "remark"), LESS)
async def test_what_is_less_than_usual_is_told(warm, name, reply, outcome, remark):
    found = await find(name, name, **reply)

    assert found[0] == outcome, found[1]
    assert remark in found[1]


async def test_a_model_that_talks_instead_of_calling_is_to_call_by_text(warm):
    with start_rehearsal(answer("call", text="I would call it."), pace=0) as server:
        report = await check(settings(server))

    assert not report.can_investigate
    assert report.settings == {"tool_calling": False}
    assert "With tool_calling: false" in report.verdict


async def test_a_call_that_failed_for_a_while_is_no_reason_to_set_anything(warm):
    busy = {"status": 429, "message": "Too many requests. Try again in 100 s."}
    with start_rehearsal(answer("call", error=busy), pace=0) as server:
        report = await check(settings(server))

    assert report.is_good("text", "react")
    assert report.settings == {}
    assert report.verdict == "No investigation can run on it: call failed."


async def test_a_model_that_is_said_to_call_by_text_is_asked_for_no_calls(warm):
    with start_rehearsal(load_answers(), pace=0) as server:
        report = await check(settings(server), tool_calling=False)
        offered = [request.body for request in server.requests if "tools" in request.body]

    assert report.verdict == "An investigation can run on it, calling tools by text."
    assert report.find("call").remark == "The configuration says tool_calling: false."
    assert offered == []


async def test_a_named_probe_is_run_with_what_it_rests_on_and_nothing_else(warm):
    with start_rehearsal(load_answers(), pace=0) as server:
        report = await check(settings(server), "conclusion")

    assert [each.probe for each in report.findings] == ["text", "call", "conclusion"]


async def test_what_is_too_large_or_too_dear_is_asked_only_by_name(warm):
    large = {"context_window": 1_000_000}

    with start_rehearsal(load_answers(), pace=0) as server:
        whole = await check(settings(server, **large))
        named = await check(settings(server, **large), "overflow")
        dear = await check(settings(server), price_of=lambda usage: usage.input_tokens * 1e-5)

    assert whole.find("overflow").outcome == "skipped"
    assert "1,100,000 tokens" in whole.find("overflow").remark
    assert named.find("overflow").outcome == "works", named.find("overflow")
    assert "It might cost $1.41." in dear.find("overflow").remark


async def test_no_probe_begins_once_the_time_of_the_check_is_over(warm):
    with start_rehearsal(load_answers(), pace=0) as server:
        report = await check(settings(server), check_seconds=0.0)

    assert {each.outcome for each in report.findings} == {"skipped"}
    assert not report.can_investigate


async def test_what_it_cost_is_summed_by_the_given_rates(warm):
    def price(usage: Usage) -> float:
        return (usage.input_tokens or 0) + 10 * (usage.output_tokens or 0)

    with start_rehearsal(answer("json", text="{}", usage=False), pace=0) as server:
        report = await check(settings(server), "json", "thinking", price_of=price)

    spent = report.spent
    assert spent.cost_usd == spent.input_tokens + 10 * spent.output_tokens > 0
    assert (spent.requests, spent.untold, spent.unpriced) == (3, 1, 1)


async def test_each_report_knows_one_probe_more_and_reads_as_it_was_written(warm):
    with start_rehearsal(load_answers(), pace=0) as server:
        plan = Plan(settings(server), only=("stream", "json"), probe_seconds=20.0)
        reports = [report async for report in check_model(plan)]

    assert [len(report.findings) for report in reports] == [1, 2, 3]
    assert [ProviderReport.from_json(report.to_json()) for report in reports] == reports


async def test_the_model_of_the_demo_can_be_checked_too(warm):
    with start_rehearsal(load_scripts(BUILTIN_SCRIPTS), pace=0) as server:
        report = await check(settings(server))

    assert report.can_investigate
    assert {each.outcome for each in report.findings if each.probe != "react"} == {"works"}


def test_a_rule_names_the_agent_that_no_other_script_is_meant_for():
    rules = load_answers().rules

    assert {rule.when.anywhere.pattern for rule in rules} == {"Agent: ProviderCheck"}
    assert When() not in [rule.when for rule in rules]
