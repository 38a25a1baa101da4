"""The nearest word counts: from defaults down to the alert."""

import pytest

from config.resolve import (
    executions_of,
    resolve_agent,
    resolve_chat,
    resolve_executive_summary,
    resolve_synthesis,
    success_policy_of,
)
from config.selection import parse_selection
from config.usage import providers_in_use
from tarsy.errors import InvalidInput
from tests.config.conftest import ENVIRON

PROVIDERS = "llm_providers:\n" + "".join(
    f"  {name}: {{type: {kind}, model: m, api_key_env: ACME_KEY{more}}}\n"
    for name, kind, more in (
        ("p-default", "google", ", native_tools: {google_search: true, code_execution: false}"),
        ("p-chain", "xai", ""),
        ("p-stage", "openai", ", tool_calling: false"),
        ("p-summary", "anthropic", ""),
    )
)
PROVIDERS += """\
  gemini: &gemini {type: google, model: gemini-3.7-flash, api_key_env: ACME_KEY}
  by-text: {<<: *gemini, tool_calling: false}
"""
DNS = "---\nname: dns\ndescription: d\n---\nText.\n"
RAID = "---\nname: raid\ndescription: d\n---\nText.\n"


@pytest.fixture
def load(check_files):
    """A configuration of one chain, with more at any level."""

    def _load(*, defaults="", agent="", chain="", stage="", stage_agent="", s1="", skills=None):
        report = check_files(
            f"""
mcp_servers:
  s1: {{transport: {{type: stdio, command: a}}, {s1}}}
  s2: {{transport: {{type: stdio, command: a}}}}
  s3: {{transport: {{type: stdio, command: a}}}}
agents:
  Worker: {{mcp_servers: [s1], {agent}}}
agent_chains:
  c:
    alert_types: [c]
    {chain or "description: c"}
    stages: [{{name: s, {stage} agents: [{{name: Worker, {stage_agent}}}]}}]
defaults: {{llm_provider: p-default, {defaults}}}
""",
            PROVIDERS,
            ENVIRON,
            **(skills or {}),
        )
        assert report.mistakes == ()
        return report.config

    return _load


def resolve(config, selection=None):
    chain = config.chains["c"]
    stage = chain.stages[0]
    return resolve_agent(
        config, chain=chain, stage=stage, stage_agent=stage.agents[0], selection=selection
    )


def test_without_a_word_the_built_in_values_hold(load):
    agent = resolve(load())

    assert (agent.agent_name, agent.definition) == ("Worker", "Worker")
    assert agent.llm_backend == "langchain"
    assert agent.max_iterations == 20
    assert agent.control_level == "read_only"
    assert agent.controller == "function_calling"
    assert agent.fallback_providers == ()
    assert agent.mcp_servers == ("s1",)


LEVELS = ("defaults", "agent", "chain", "stage", "stage_agent")


@pytest.mark.parametrize("upto", range(1, 6))
def test_the_nearest_max_iterations_counts(load, upto):
    said = {level: f"max_iterations: {n}" for n, level in enumerate(LEVELS[:upto], 1)}
    said |= {"stage": said["stage"] + ","} if "stage" in said else {}

    assert resolve(load(**said)).max_iterations == upto


@pytest.mark.parametrize("upto", range(1, 5))
def test_the_nearest_backend_counts(load, upto):
    levels = ("defaults", "agent", "chain", "stage_agent")[:upto]
    said = {level: "llm_backend: google-native" for level in levels}
    said[levels[-1]] = "llm_backend: langchain"

    assert resolve(load(**said)).llm_backend == "langchain"


@pytest.mark.parametrize(
    ("said", "provider"),
    [
        ({}, "p-default"),
        ({"chain": "llm_provider: p-chain"}, "p-chain"),
        ({"chain": "llm_provider: p-chain", "stage_agent": "llm_provider: p-stage"}, "p-stage"),
    ],
)
def test_the_nearest_provider_counts(load, said, provider):
    agent = resolve(load(**said))

    assert agent.provider_name == provider
    assert agent.provider.name == provider


@pytest.mark.parametrize(
    ("said", "servers"),
    [
        ({"chain": "mcp_servers: [s2]"}, ("s2",)),
        ({"chain": "mcp_servers: [s2]", "stage": "mcp_servers: [s3, s1],"}, ("s3", "s1")),
        ({"stage": "mcp_servers: [s3],", "stage_agent": "mcp_servers: [s2]"}, ("s2",)),
        ({"chain": "mcp_servers: [s2]", "stage_agent": "mcp_servers: []"}, ("s2",)),
    ],
)
def test_servers_replace_each_other_and_an_empty_list_says_nothing(load, said, servers):
    assert resolve(load(**said)).mcp_servers == servers


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ({}, ["p-chain"]),
        ({"chain": "fallback_providers: [{provider: p-stage, backend: langchain}]"}, ["p-stage"]),
        ({"chain": "fallback_providers: []"}, []),
        ({"stage": "fallback_providers: [],"}, []),
        ({"stage_agent": "fallback_providers: []"}, []),
    ],
)
def test_the_nearest_list_of_fallbacks_counts_even_when_it_is_empty(load, said, names):
    defaults = "fallback_providers: [{provider: p-chain, backend: langchain}]"

    agent = resolve(load(defaults=defaults, **said))

    assert [fallback.provider_name for fallback in agent.fallback_providers] == names


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ({"defaults": "control_level: controlled"}, "controlled"),
        ({"defaults": "control_level: controlled", "agent": "control_level: autonomous"},
         "autonomous"),
        ({"agent": "control_level: autonomous", "chain": "control_level: controlled"},
         "controlled"),
        ({"chain": "control_level: autonomous", "stage": "control_level: read_only,"}, "read_only"),
    ],
)  # fmt: skip
def test_the_nearest_control_level_counts(load, said, level):
    assert resolve(load(**said)).control_level == level


def test_native_tools_go_from_provider_to_agent_to_alert(load):
    config = load(agent="native_tools: {url_context: true, code_execution: true}")

    chosen = parse_selection({"native_tools": {"code_execution": False}}, config)

    assert resolve(config, chosen).native_tools == {
        "google_search": True,
        "url_context": True,
        "code_execution": False,
    }


@pytest.mark.parametrize(
    ("agent", "stage_agent", "required", "loadable"),
    [
        ("", "", (), ("dns", "raid")),
        ("skills: []", "", (), ()),
        ("skills: []", "skills: [raid]", (), ("raid",)),
        ("required_skills: [dns]", "", ("dns",), ("raid",)),
        ("required_skills: [dns]", "required_skills: [raid]", ("dns", "raid"), ()),
    ],
)
def test_a_stage_adds_skills_and_required_ones_are_not_offered(
    load, agent, stage_agent, required, loadable
):
    resolved = resolve(
        load(agent=agent, stage_agent=stage_agent, skills={"dns": DNS, "raid": RAID})
    )

    assert resolved.required_skills == required
    assert resolved.skills == loadable


@pytest.mark.parametrize(
    ("said", "controller"),
    [
        ({"agent": "type: action"}, "function_calling"),
        ({"stage_agent": "llm_provider: p-stage"}, "react"),
        ({"agent": "type: synthesis"}, "synthesis"),
        ({"stage_agent": "type: scoring"}, "single_call"),
    ],
)
def test_type_and_provider_decide_the_controller(load, said, controller):
    assert resolve(load(**said)).controller == controller


def test_replicas_share_a_definition_and_differ_in_name(load):
    config = load(stage="replicas: 3,")
    chain = config.chains["c"]

    executions = executions_of(chain.stages[0])

    assert [execution.name for execution in executions] == ["Worker-1", "Worker-2", "Worker-3"]
    last = resolve_agent(config, chain=chain, stage=chain.stages[0], stage_agent=executions[2])
    assert (last.agent_name, last.definition) == ("Worker-3", "Worker")


def test_an_alert_that_names_servers_replaces_the_configured_ones(load):
    config = load(stage_agent="mcp_servers: [s1, s2]")
    chosen = parse_selection(
        {"servers": [{"name": "s3", "tools": ["look"]}, {"name": "s1", "tools": []}]}, config
    )

    agent = resolve(config, chosen)

    assert chosen.servers == (("s3", ("look",)), ("s1", None))
    assert agent.mcp_servers == ("s3", "s1")
    assert agent.tool_filter == {"s3": ("look",)}


@pytest.mark.parametrize("value", [None, {}, {"servers": []}, {"native_tools": {}}])
def test_an_alert_that_names_no_servers_leaves_the_configured_ones(load, value):
    config = load()

    assert resolve(config, parse_selection(value, config)).mcp_servers == ("s1",)


@pytest.mark.parametrize(
    ("stage_agent", "selection", "servers"),
    [
        ("llm_provider: gemini, llm_backend: google-native", {"google_search": True}, ()),
        ("llm_provider: gemini, llm_backend: google-native", {"google_search": False}, ("s1",)),
        ("llm_provider: gemini, llm_backend: langchain", {"google_search": True}, ("s1",)),
        ("llm_provider: by-text, llm_backend: google-native", {"google_search": True}, ("s1",)),
        ("llm_provider: p-chain, llm_backend: google-native", {"google_search": True}, ("s1",)),
    ],
    ids=["has them", "switched off", "wrong backend", "tools by text", "has none"],
)
def test_native_tools_alone_take_the_place_of_servers_where_a_model_takes_either_kind(
    load, stage_agent, selection, servers
):
    config = load(stage_agent=stage_agent)

    chosen = parse_selection({"servers": [], "native_tools": selection}, config)

    assert resolve(config, chosen).mcp_servers == servers


@pytest.mark.parametrize(
    ("value", "field", "words"),
    [
        ("s1", "mcp", "object"),
        (True, "mcp", "object"),
        ([], "mcp", "object"),
        ({"server": []}, "mcp", "did you mean 'servers'"),
        ({"servers": "s1"}, "mcp.servers", "list"),
        ({"servers": ["s1"]}, "mcp.servers[0]", "object"),
        ({"servers": [None]}, "mcp.servers[0]", "object"),
        ({"servers": [{}]}, "mcp.servers[0].name", "name of an MCP server"),
        ({"servers": [{"name": "  "}]}, "mcp.servers[0].name", "name of an MCP server"),
        ({"servers": [{"name": ["s1"]}]}, "mcp.servers[0].name", "name of an MCP server"),
        ({"servers": [{"name": "s1"}, {"name": "kubernetes-servr"}]}, "mcp.servers[1].name",
         "did you mean 'kubernetes-server'"),
        ({"servers": [{"name": "ops\x00"}]}, "mcp.servers[0].name", "with this name"),
        ({"servers": [{"name": "s1"}, {"name": "s1"}]}, "mcp.servers[1].name", "second time"),
        ({"servers": [{"name": "s1", "tool": []}]}, "mcp.servers[0]", "did you mean 'tools'"),
        ({"servers": [{"name": "s1", "tools": "a"}]}, "mcp.servers[0].tools", "list"),
        ({"servers": [{"name": "s1", "tools": [["a"]]}]}, "mcp.servers[0].tools[0]", "name"),
        ({"servers": [{"name": "s1", "tools": ["a\n"]}]}, "mcp.servers[0].tools[0]", "printable"),
        ({"native_tools": []}, "mcp.native_tools", "object"),
        ({"native_tools": {"bing": True}}, "mcp.native_tools", "google_search"),
        ({"native_tools": {"url_context": 1}}, "mcp.native_tools.url_context", "true or false"),
    ],
)  # fmt: skip
def test_a_wrong_selection_names_the_part_that_is_wrong(load, value, field, words):
    with pytest.raises(InvalidInput) as raised:
        parse_selection(value, load())

    assert raised.value.field == field
    assert words in raised.value.message


def test_synthesis_has_no_tools_and_takes_the_words_of_its_block(load):
    config = load(
        chain="llm_provider: p-chain",
        stage="synthesis: {llm_provider: p-stage, llm_backend: google-native},",
    )
    chain = config.chains["c"]

    agent = resolve_synthesis(config, chain, chain.stages[0])

    assert (agent.agent_name, agent.controller) == ("SynthesisAgent", "synthesis")
    assert (agent.provider_name, agent.llm_backend) == ("p-stage", "google-native")
    assert agent.mcp_servers == ()


def test_the_executive_summary_has_a_provider_of_its_own(load):
    config = load(chain="llm_provider: p-chain")
    own = load(chain="executive_summary_provider: p-summary")

    inherited = resolve_executive_summary(config, config.chains["c"])
    agent = resolve_executive_summary(own, own.chains["c"])

    assert (inherited.agent_name, inherited.controller) == ("ExecSummaryAgent", "single_call")
    assert inherited.provider_name == "p-chain"
    assert agent.provider_name == "p-summary"


def test_chat_gets_the_servers_of_all_who_investigated(load):
    config = load(stage="mcp_servers: [s3, s1],")

    agent = resolve_chat(config, config.chains["c"])

    assert agent.agent_name == "ChatAgent"
    assert agent.mcp_servers == ("s3", "s1")


def test_chat_prefers_its_own_words(load):
    config = load(
        chain="chat: {enabled: true, agent: Worker, mcp_servers: [s2], max_iterations: 4}"
    )

    agent = resolve_chat(config, config.chains["c"])

    assert (agent.agent_name, agent.mcp_servers, agent.max_iterations) == ("Worker", ("s2",), 4)


def test_a_stage_inherits_its_success_policy(load):
    silent, loud = load(defaults="success_policy: all"), load(stage="success_policy: all,")

    assert success_policy_of(silent, silent.chains["c"].stages[0]) == "all"
    assert success_policy_of(loud, loud.chains["c"].stages[0]) == "all"


# ---- Summarization -------------------------------------------------------------------------------


def test_without_a_word_large_results_are_summarized_by_the_agents_own_model(load):
    rule = resolve(load()).summarization["s1"]

    assert (rule.threshold_tokens, rule.max_tokens, rule.summarizer) == (5000, 1000, None)


@pytest.mark.parametrize(
    ("defaults", "server", "provider", "backend"),
    [
        ("llm_provider: p-chain", "", "p-chain", "google-native"),
        ("llm_provider: p-chain, llm_backend: langchain", "", "p-chain", "langchain"),
        ("llm_provider: p-chain", "llm_provider: p-summary", "p-summary", "google-native"),
        ("llm_provider: p-chain, llm_backend: langchain", "llm_provider: p-summary", "p-summary",
         "google-native"),
        ("", "llm_provider: p-summary, llm_backend: langchain", "p-summary", "langchain"),
        ("llm_provider: p-chain", "llm_backend: langchain", "p-chain", "langchain"),
    ],
)  # fmt: skip
def test_the_nearest_summarizer_counts_with_the_backend_said_beside_it(
    load, defaults, server, provider, backend
):
    config = load(
        defaults=f"summarization: {{{defaults}}}, llm_backend: google-native"
        if defaults
        else "llm_backend: google-native",
        s1=f"summarization: {{{server}}}",
    )

    named = resolve(config).summarization["s1"].summarizer

    assert named is not None
    assert (named.provider_name, named.llm_backend) == (provider, backend)


def test_a_server_that_is_switched_off_is_not_summarized(load):
    config = load(
        defaults="summarization: {llm_provider: p-summary}", s1="summarization: {enabled: false}"
    )

    assert dict(resolve(config).summarization) == {}


def test_servers_that_an_alert_chose_are_summarized_too(load):
    config = load()
    selection = parse_selection({"servers": [{"name": "s2"}]}, config)

    assert list(resolve(config, selection).summarization) == ["s2"]


@pytest.mark.parametrize(
    ("levels", "used"),
    [
        ({"s1": "summarization: {llm_provider: p-summary}"}, True),
        ({"defaults": "summarization: {llm_provider: p-summary}"}, True),
        ({"s1": "summarization: {enabled: false}"}, False),
    ],
)
def test_a_model_that_only_summarizes_is_in_use(load, levels, used):
    names = {provider.name for provider in providers_in_use(load(**levels))}

    assert ("p-summary" in names) is used
