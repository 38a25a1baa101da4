"""What another version wrote loads, and nothing of it goes unsaid."""

import pytest

from config.resolve import resolve_agent, resolve_chat, resolve_synthesis
from tests.config.conftest import ENVIRON, PROVIDERS, TARSY, changed, places, printed

SERVER = "      command: probe-mcp\n"
AGENT = "    mcp_servers: [probe]\n"
CHAIN = "    alert_types: [net]\n"
STAGE = "      - name: look\n"
STAGE_AGENT = "          - name: NetAgent\n"
REMOTE = "      type: http\n      url: https://mcp.example.com/mcp\n"


def added(after: str, text: str) -> str:
    return changed(after, after + text)


def remote(text: str) -> str:
    return changed(f"      type: stdio\n{SERVER}", REMOTE + text)


@pytest.mark.parametrize(
    ("tarsy", "words"),
    [
        (TARSY + "notifications: {a: {b: [1, 2]}}\n", "notifications: unknown key"),
        (added(AGENT, "    llm_provider: a\n"), "has none of its own"),
        (added(AGENT, "    native_tools: {bing: true}\n"), "google_search"),
        (added(STAGE_AGENT, "            orchestrator: {max_concurrent_agents: 2}\n"),
         "it belongs to the agent's entry"),
        (added(SERVER, "      colour: true\n"), "transport.colour: unknown key"),
    ],
)  # fmt: skip
def test_a_key_that_nobody_knows_is_a_warning(check_files, tarsy, words):
    report = check_files(tarsy)

    assert report.mistakes == ()
    assert report.config is not None
    assert words in "\n".join(map(str, report.warnings))


@pytest.mark.parametrize(
    ("tarsy", "meant"),
    [
        (TARSY + "agent_chain: {}\n", "agent_chains"),
        (added(AGENT, "    custom-instructions: x\n"), "custom_instructions"),
        (added(SERVER, "      verify_tls: true\n"), "verify_ssl"),
    ],
)
def test_a_misspelt_key_is_a_mistake_with_the_key_that_was_meant(check_files, tarsy, meant):
    report = check_files(tarsy)

    [mistake] = report.mistakes
    assert f"did you mean '{meant}'" in str(mistake)


def test_an_unknown_key_does_not_hide_a_mistake(check_files):
    report = check_files(TARSY + "queue: {worker_cout: 1, worker_count: 99}\n")

    assert sorted(mistake.message for mistake in report.mistakes) == [
        "queue.worker_count: must be at most 50",
        "queue.worker_cout: unknown key; did you mean 'worker_count'?",
    ]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("command: python", "transport: {type: stdio, command: ..., args: [...]}"),
        ("args: [shop.py]", "transport: {type: stdio, command: ..., args: [...]}"),
        ("url: http://shop/mcp", "transport: {type: http, url: ...}"),
    ],
)
def test_a_transport_written_beside_the_name_of_a_server_is_told_where_it_belongs(
    check_files, key, meant
):
    report = check_files(TARSY.replace("agents:\n", f"  shop:\n    {key}\nagents:\n", 1))

    assert "mcp_servers.shop.transport: is missing" in printed(report)
    assert f"did you mean `{meant}`?" in printed(report)


def test_a_block_of_anchors_is_silent(check_files):
    tarsy = "x-anchors:\n  servers: &servers [probe]\n" + changed("[probe]", "*servers")

    report = check_files(tarsy)

    assert (report.mistakes, report.warnings) == ((), ())
    assert report.config.agents["NetAgent"].mcp_servers == ("probe",)


def test_a_model_key_in_the_file_itself_is_refused_and_never_shown(check_files):
    report = check_files(providers=PROVIDERS + "    api_key: example-hidden-value\n")

    assert "api_key: unknown key; write the name of the variable" in printed(report)
    assert "example-hidden-value" not in printed(report)


@pytest.mark.parametrize(
    "tarsy",
    [
        remote("      bearer_token: '{{.GONE}}'\n"),
        remote("      bearer_token: {{.GONE}}\n"),
        remote("      custom_headers: {Authorization: 'Bearer {{.GONE}}'}\n"),
        changed("command: probe-mcp", "command: '{{.GONE}}'"),
        changed("command: probe-mcp", "command: '/opt/{{.GONE}}/mcp'"),
        added(SERVER, "      env: {GITHUB_TOKEN: '{{.GONE}}'}\n"),
        remote("").replace("https://mcp.example.com", "http://{{.GONE}}:8080"),
    ],
)
@pytest.mark.parametrize("environ", [{}, {"GONE": ""}])
def test_a_variable_without_a_value_is_a_mistake_where_a_value_is_needed(
    check_files, tarsy, environ
):
    report = check_files(tarsy, environ=ENVIRON | environ)

    assert "{{.GONE}} is " in "\n".join(map(str, report.mistakes))


@pytest.mark.parametrize(
    "tarsy",
    [
        remote("      custom_headers: {X-Team: '{{.GONE}}'}\n"),
        added(SERVER, "      args: [--region, '{{.GONE}}']\n"),
        added(AGENT, "    custom_instructions: |\n      We are {{.GONE}}.\n"),
        TARSY + "  runbook: {{.GONE}}\n",
    ],
)
def test_a_variable_without_a_value_is_a_warning_elsewhere_and_none_where_it_is_empty(
    check_files, tarsy
):
    unset = check_files(tarsy)
    empty = check_files(tarsy, environ=ENVIRON | {"GONE": ""})

    assert unset.mistakes == ()
    assert "{{.GONE}} is not set in the environment" in "\n".join(map(str, unset.warnings))
    assert "GONE" not in printed(empty)


def test_a_token_that_this_process_lacks_does_not_stop_the_load(check_files):
    report = check_files(remote("      bearer_token: '{{.GONE}}'\n"))

    assert report.config is not None
    assert report.needs == report.mistakes
    assert places(report) == {("tarsy.yaml", 6)}


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("{{if .X}}a{{else}}b{{end}}", "{{if ...}} is left as it stands: only {{.NAME}}"),
        ('{{or .X "https://a.example.com"}}', "{{or ...}} is left as it stands"),
        ("{{.X | upper}}", "conditions, functions or pipes"),
        ("{{X}}", "write {{.X}} with the dot"),
    ],
)
def test_a_template_that_is_not_replaced_says_what_would_be(check_files, written, words):
    tarsy = remote("").replace("https://mcp.example.com/mcp", f"'{written}'")

    report = check_files(tarsy)

    assert words in printed(report)
    assert printed(report).count("is left as it stands") <= 1
    assert "with anything but .NAME in it is not replaced" in printed(report)


@pytest.mark.parametrize(
    ("tarsy", "backend", "controller"),
    [
        (TARSY + "  iteration_strategy: react\n", "langchain", "react"),
        (TARSY + "  iteration_strategy: native-thinking\n", "google-native", "function_calling"),
        (added(AGENT, "    iteration_strategy: native-thinking\n"), "google-native",
         "function_calling"),
        (added(CHAIN, "    iteration_strategy: react\n"), "langchain", "react"),
        (added(STAGE, "        iteration_strategy: react\n"), "langchain", "react"),
        (added(STAGE_AGENT, "            iteration_strategy: native-thinking\n"), "google-native",
         "function_calling"),
        (added(CHAIN, "    iteration_strategy: react\n").replace(
            STAGE_AGENT, f"{STAGE_AGENT}            iteration_strategy: native-thinking\n"),
         "google-native", "function_calling"),
        (added(AGENT, "    iteration_strategy: react\n    llm_backend: google-native\n"),
         "google-native", "react"),
    ],
)  # fmt: skip
def test_a_strategy_of_older_files_is_read_as_the_keys_that_have_taken_its_place(
    check_files, tarsy, backend, controller
):
    report = check_files(tarsy)

    assert report.mistakes == ()
    assert "is read as" in printed(report)
    chain = report.config.chains["net"]
    agent = resolve_agent(
        report.config, chain=chain, stage=chain.stages[0], stage_agent=chain.stages[0].agents[0]
    )
    assert (agent.llm_backend, agent.controller) == (backend, controller)


def test_an_unknown_strategy_is_ignored_with_the_one_that_was_meant(check_files):
    report = check_files(TARSY + "  iteration_strategy: natve-thinking\n")

    assert report.mistakes == ()
    assert "did you mean 'native-thinking'" in printed(report)


def test_the_example_of_older_documents_runs_as_they_say(check_files):
    tarsy = """\
agents:
  performance-agent: {description: Looks at load, mcp_servers: [ops]}
agent_chains:
  performance:
    alert_types: [performance]
    llm_provider: gemini-2.5-flash
    stages:
      - name: investigation
        llm_provider: gemini-3-pro
        agents:
          - name: KubernetesAgent
            llm_provider: gemini-2.5-flash
            iteration_strategy: native-thinking
          - name: performance-agent
            iteration_strategy: langchain
        synthesis:
          iteration_strategy: synthesis-native-thinking
    chat:
      enabled: true
      agent: ChatAgent
      iteration_strategy: native-thinking
"""

    report = check_files(tarsy, "", {"GOOGLE_API_KEY": "invented"})

    assert report.mistakes == ()
    chain = report.config.chains["performance"]
    stage = chain.stages[0]
    first, second = (
        resolve_agent(report.config, chain=chain, stage=stage, stage_agent=agent)
        for agent in stage.agents
    )
    synthesis = resolve_synthesis(report.config, chain, stage)
    assert (first.provider_name, first.llm_backend) == ("gemini-2.5-flash", "google-native")
    assert (second.provider_name, second.llm_backend) == ("gemini-3-pro", "langchain")
    assert (synthesis.provider_name, synthesis.llm_backend) == ("gemini-3-pro", "google-native")
    assert synthesis.provider.model == "gemini-3-pro-preview"
    assert resolve_chat(report.config, chain).llm_backend == "google-native"


def test_a_chain_without_a_block_for_it_has_no_chat_and_the_built_in_ones_have(check_files):
    report = check_files()

    assert {name: chain.chat.enabled for name, chain in report.config.chains.items()} == {
        "net": False,
        "kubernetes": True,
        "host": True,
    }
    assert "no chat after investigations of net; chat: {enabled: true" in printed(report)
