"""Which models an execution gets, from its configuration and its row."""

import os

import pytest

from agents.answers import Failure
from agents.fallback import FallbackState
from agents.ports import LLMOptions
from config.check import check
from config.resolve import resolve_agent
from investigations.engine import language_models
from investigations.engine.language_models import choose_models, plan_summaries
from investigations.models import AgentExecution
from tarsy.errors import AgentError, LLMError

PROVIDERS = """
llm_providers:
  first: {type: google, model: gemini-x, api_key_env: FIRST_KEY, native_tools: {url_context: true}}
  second: {type: openai, model: second-x, base_url: "http://127.0.0.1:1/v1", tool_calling: false}
  third:
    type: openai
    model: third-x
    base_url: "http://127.0.0.1:1/v1"
    context_window: 9000
    quirks: {stream_options: false, keeps_tools: true}
"""
TARSY = """
mcp_servers:
  named:
    transport: {type: stdio, command: x}
    summarization: {size_threshold_tokens: 300, summary_max_token_limit: 60, llm_provider: third}
  off:
    transport: {type: stdio, command: x}
    summarization: {enabled: false}
agents:
  Looker: {description: looks, mcp_servers: [ops, named, off], native_tools: NATIVE}
agent_chains:
  c:
    alert_types: [c]
    llm_provider: first
    llm_backend: google-native
    fallback_providers:
      - {provider: second, backend: langchain}
      - {provider: third, backend: langchain}
    stages: [{name: look, agents: [{name: Looker}]}]
"""


@pytest.fixture
def resolve(tmp_path, monkeypatch):
    monkeypatch.setenv("FIRST_KEY", "k")

    def make(native="{}"):
        (tmp_path / "llm-providers.yaml").write_text(PROVIDERS)
        (tmp_path / "tarsy.yaml").write_text(TARSY.replace("NATIVE", native))
        report = check(tmp_path, os.environ)
        assert report.config is not None, report.mistakes
        chain = report.config.chains["c"]
        stage = chain.stages[0]
        return resolve_agent(report.config, chain=chain, stage=stage, stage_agent=stage.agents[0])

    return make


def test_a_provider_is_asked_with_the_quirks_of_its_configuration(resolve, monkeypatch):
    made = {}
    monkeypatch.setattr(
        language_models, "make_llm", lambda settings: made.setdefault(settings.model, settings)
    )
    _, plan = choose_models(resolve(), AgentExecution())

    plan.entries[1].open()

    assert made["third-x"].quirks == {"stream_options": False, "keeps_tools": True}
    assert made["gemini-x"].quirks == {}


def test_an_execution_begins_with_its_own_model_and_the_others_wait(resolve):
    llm, plan = choose_models(resolve(), AgentExecution())

    assert (llm.provider_name, plan.current.backend) == ("first", "google-native")
    assert [entry.name.provider_name for entry in plan.entries] == ["second", "third"]
    assert plan.native_tools == {"url_context"}
    assert plan.needs_native_tools is False


@pytest.mark.parametrize(
    ("native", "needed", "had"),
    [
        ("{google_search: true}", True, {"google_search", "url_context"}),
        ("{url_context: false}", False, set()),
    ],
)
def test_only_what_the_agent_itself_switches_on_is_needed(resolve, native, needed, had):
    _, plan = choose_models(resolve(native), AgentExecution())

    assert (plan.needs_native_tools, set(plan.native_tools)) == (needed, had)


def test_an_interrupted_execution_goes_on_with_the_model_that_took_over(resolve):
    execution = AgentExecution(
        original_llm_provider="first", llm_provider="third", llm_backend="langchain"
    )

    llm, plan = choose_models(resolve(), execution)

    assert llm.provider_name == "third"
    assert plan.entries == ()
    assert (plan.attempts, plan.tried) == (2, {"first", "second"})


def test_a_model_that_cannot_call_tools_does_not_take_over_from_one_that_does(resolve):
    _, plan = choose_models(resolve(), AgentExecution())
    state = FallbackState(plan, is_single_shot=False)

    takeover = state.take_next(Failure("credentials", "refused"))

    assert takeover is not None
    assert takeover.switch.after.provider_name == "third"
    assert "tool_calling: false" in takeover.switch.metadata["skipped_unusable"]["second"]


async def test_a_model_without_its_key_says_so_when_it_is_asked_and_the_others_wait(
    resolve, monkeypatch
):
    agent = resolve()
    monkeypatch.delenv("FIRST_KEY")

    llm, plan = choose_models(agent, AgentExecution())

    with pytest.raises(LLMError, match="set FIRST_KEY") as refused:
        await anext(aiter(llm.stream((), (), LLMOptions())))
    assert refused.value.code == "credentials"
    assert (llm.provider_name, plan.current.provider_name) == ("first", "first")
    assert [entry.name.provider_name for entry in plan.entries] == ["second", "third"]


def test_summaries_are_planned_for_each_server_with_its_own_numbers_and_model(resolve):
    plan = plan_summaries(resolve())

    assert set(plan.rules) == {"ops", "named"}
    assert plan.rules["ops"].named is None
    named = plan.rules["named"]
    assert (named.threshold_tokens, named.max_tokens) == (300, 60)
    assert named.named is not None
    assert named.named.name.provider_name == "third"
    assert named.named.open().input_limit == 7_200


def test_any_model_of_the_execution_may_summarize_and_none_brings_native_tools(resolve):
    agent = resolve("{google_search: true}")

    plan = plan_summaries(agent)

    llm, fallbacks = choose_models(agent, AgentExecution())
    assert plan.models[0].name == fallbacks.current
    assert [each.name.provider_name for each in plan.models] == ["first", "second", "third"]
    assert llm._settings.native_tools == {"google_search", "url_context"}
    assert plan.models[0].open()._settings.native_tools == frozenset()


def test_a_summarizer_without_its_key_is_told_when_it_is_asked_for(resolve, monkeypatch):
    plan = plan_summaries(resolve())
    monkeypatch.delenv("FIRST_KEY")

    with pytest.raises(AgentError, match="set FIRST_KEY"):
        plan.models[0].open()


def test_a_model_is_asked_with_the_times_of_its_provider_and_those_of_all(resolve, monkeypatch):
    seen = []
    monkeypatch.setattr(language_models, "make_llm", seen.append)
    monkeypatch.setitem(globals(), "PROVIDERS", PROVIDERS.replace(
        "api_key_env: FIRST_KEY,",
        "api_key_env: FIRST_KEY, silence_timeout: 7s, max_retries: 5,"))  # fmt: skip
    monkeypatch.setitem(
        globals(),
        "TARSY",
        TARSY + "defaults: {silence_timeout: 9s, retry_after_limit: 5m, max_retries: 0}\n",
    )

    _, plan = choose_models(resolve(), AgentExecution())
    plan.entries[1].open()

    first, third = seen
    assert (first.times.stall, third.times.stall) == (7.0, 9.0)
    assert (first.retry_rule.max_retries, third.retry_rule.max_retries) == (5, 0)
    assert first.retry_rule.longest_wait == third.retry_rule.longest_wait == 300.0
    assert first.times.first_chunk == 120.0
