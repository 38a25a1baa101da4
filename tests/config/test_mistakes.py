"""Each kind of mistake is found, in its place, with what would be right."""

import pytest

from tests.cases import check_each
from tests.config.conftest import ENVIRON, PROVIDERS, TARSY, Check, changed, places, printed

SERVER = "      command: probe-mcp\n"
AGENT = "    mcp_servers: [probe]\n"
CHAIN = "    alert_types: [net]\n"
STAGE = "      - name: look\n"
STAGE_AGENT = "          - name: NetAgent\n"
DEFAULTS = "  llm_provider: acme\n"


def added(after: str, text: str) -> str:
    return changed(after, after + text)


def line_of(text: str, piece: str) -> int:
    return text[: text.index(piece)].count("\n") + 1


MISTAKES = [
    # names that name nothing
    (STAGE, "        mcp_servers: [prob]\n", "[prob]", ["'prob'", "did you mean 'probe'"]),
    (CHAIN, "    mcp_servers: [elsewhere]\n", "[else", ["'elsewhere'"]),
    (STAGE_AGENT, "            mcp_servers: [nowhere]\n", "[nowhere", ["'nowhere'"]),
    (CHAIN, "    llm_provider: acne\n", "acne", ["'acne'", "'acme'"]),
    (CHAIN, "    executive_summary_provider: acne\n", "acne", ["'acne'", "'acme'"]),
    (STAGE, "        synthesis: {llm_provider: nobody}\n", "nobody", ["'nobody'"]),
    (CHAIN, "    scoring: {agent: Judge}\n", "Judge", ["'Judge'"]),
    (CHAIN, "    scoring: {mcp_servers: [lost]}\n", "lost", ["'lost'"]),
    (CHAIN, "    chat: {enabled: true, agent: ChatAgnt}\n", "ChatAg", ["'ChatAgent'"]),
    (CHAIN, "    chat:\n      sub_agents: [Helper]\n", "[Help", ["'Helper'"]),
    (STAGE_AGENT, "            skills: [raid]\n", "[raid", ["'raid'"]),
    (SERVER, "    summarization:\n      llm_provider: who\n", "who", ["'who'"]),
    (DEFAULTS, "  alert_type: nett\n", "nett", ["'nett'", "did you mean 'net'"]),
    (DEFAULTS, "alert_sources:\n  plant:\n    title: a[\n", "a[", ["no JMESPath expression"]),
    (DEFAULTS, "alert_sources:\n  plant:\n    alerts: events[?sumup(@)]\n", "events[",
     ["no JMESPath expression", "sumup"]),
    (DEFAULTS, "alert_sources:\n  plant:\n    alert_type: nett\n", "nett",
     ["no chain takes 'nett'", "did you mean 'net'"]),
    (DEFAULTS, "alert_sources:\n  plant:\n    titel: a\n", "titel", ["'title'"]),
    # who may send alerts
    (DEFAULTS, "alert_senders:\n  grafanna: {}\n", "grafanna",
     ["no alert source", "'grafana'"]),
    (DEFAULTS, "alert_senders:\n  zabbix: {form: basic}\n", "zabbix", ["needs secret_envs"]),
    (DEFAULTS, "alert_senders:\n  zabbix:\n    form: basic\n    secret_envs: [A_B]\n",
     "zabbix", ["needs a user"]),
    (DEFAULTS, "alert_senders:\n  github:\n    secret_envs: [A_B]\n    query: key\n", "query:",
     ["no meaning for the form github, only for token"]),
    (DEFAULTS, "alert_senders:\n  zabbix:\n    secret_envs: [A_B]\n    query: key\n"
     "    header: X-Key\n", "query", ["not in both"]),
    (DEFAULTS, "alert_senders:\n  grafana:\n    secret_envs: [A_B]\n    max_age: 1m\n",
     "max_age", ["timestamp_header"]),
    (DEFAULTS, "alert_senders:\n  zabbix:\n    secret_envs: [a-secret!]\n", "secret_envs",
     ["the name of an environment variable, not what it holds"]),
    (DEFAULTS, "alert_senders:\n  zabbix:\n    networks: [10.0.0.1/40]\n", "networks",
     ["must be a network such as 10.0.0.0/8"]),
    (DEFAULTS, "alert_senders:\n  zabbix:\n    secret_envs: [A]\n    header: 'X: y'\n",
     "header", ["the name of a header"]),
    (DEFAULTS, "alert_senders:\n  aws_sns:\n    topics: [alarms]\n", "topics",
     ["arn:aws:sns:REGION:ACCOUNT:NAME"]),
    (DEFAULTS, "alert_senders:\n  aws_sns:\n    secret_envs: [A]\n", "secret_envs",
     ["form: basic or token"]),
    (DEFAULTS, "alert_senders:\n  zabbix:\n    topics: ['arn:aws:sns:eu-west-1:12345678901"
     "2:t']\n", "topics", ["no meaning for the form token, only for sns"]),
    # ranges
    (AGENT, "    max_iterations: 0\n", "iterations: 0", ["max_iterations", "at least 1"]),
    (DEFAULTS, "queue:\n  worker_count: 51\n", "51", ["worker_count", "at most 50"]),
    (DEFAULTS, "queue:\n  max_queue_size: 0\n", "size: 0", ["max_queue_size", "at least 1"]),
    (SERVER, "    summarization: {size_threshold_tokens: 99}\n", "99", ["at least 100"]),
    (DEFAULTS, "queue: {poll_interval: 100ms}\n", "100ms", ["poll_interval_jitter", "shorter"]),
    (DEFAULTS, "queue: {orphan_threshold: 5s}\n", "5s", ["heartbeat_interval", "shorter"]),
    (DEFAULTS, "  orchestrator: {max_budget: 0s}\n", "0s", ["max_budget", "more than 0s"]),
    # words of a closed set
    (CHAIN, "    control_level: readonly\n", "readonly", ["'readonly'", "'read_only'"]),
    (DEFAULTS, "  success_policy: most\n", "most", ["'any' or 'all'", "'most'"]),
    (AGENT, "    type: sythesis\n", "sythesis", ["did you mean 'synthesis'"]),
    (AGENT, "    llm_backend: langchian\n", "langchian", ["did you mean 'langchain'"]),
    (SERVER, "    tools: {unmount: admin}\n", "admin", ["probe.tools.unmount:", "'admin'"]),
    (SERVER, "    tools: {df: {values: {a: read}}}\n", "values", ["argument"]),
    (SERVER, "    tools: {go: {verify: {tool: df, expect: {path: a}}}}\n", "go", ["contains"]),
    (SERVER, "    tools: {go: {verify: {tool: df, expect: {equals: a}}}}\n", "go", ["path"]),
    (SERVER, "    tools: {go: {verify: {expect: {contains: a}}}}\n", "verify", ["tool"]),
    (SERVER, "    tools: {rm: write, go: {verify: {tool: rm, expect: {contains: a}}}}\n",
     "verify", ["is a write"]),
    (SERVER, "    tools: {go: {default: read, verify: {tool: a, expect: {contains: b}}}}\n",
     "verify", ["nothing is written here"]),
    (SERVER, "    tools: {go: {repairs: soon}}\n", "soon", ["true, false or a list"]),
    (SERVER, "    tools: {go: {repairs: [up]}}\n", "repairs", ["name the argument"]),
    (SERVER, "    tools: {go: {argument: act, autonomous: true}}\n", "autonomous",
     ["list the values of act"]),
    (SERVER, "    tools: {go: {argument: act, values: {ls: read}, repairs: [ls]}}\n",
     "repairs", ["ls is classed as a read"]),
    (SERVER, "    tools: {go: {default: read, autonomous: true}}\n", "autonomous",
     ["classed as a read"]),
    (SERVER, "  ops: {tools: {control: {repairs: true}}}\n", "repairs", ["list the actions"]),
    (SERVER, "    tools: {go: {repairs: true, accepts: {replicas: 3}}}\n", "accepts",
     ["must be a list"]),
    # keys nobody knows, where upstream refuses them as well
    (STAGE_AGENT, "            sub_agents: [{name: GeneralWorker, sub_agents: []}]\n",
     "sub_agents", ["no sub-agents of its own"]),
    (DEFAULTS, "  summarization: {enabled: true}\n", "enabled", ["unknown key"]),
    # types
    (DEFAULTS, "queue: {worker_count: '5'}\n", "'5'", ["whole number"]),
    (DEFAULTS, "queue: {worker_count: 1.5}\n", "1.5", ["whole number"]),
    (DEFAULTS, "queue: {worker_count: yes}\n", "yes", ["whole number"]),
    (DEFAULTS, "queue: []\n", "[]", ["queue: must be a mapping"]),
    (SERVER, "      args: --fast\n", "--fast", ["args: must be a list"]),
    (AGENT, "    custom_instructions: {a: b}\n", "{a: b}", ["must be text"]),
    # durations
    (DEFAULTS, "queue: {session_timeout: 40}\n", "40", ["session_timeout", "40m"]),
    (DEFAULTS, "queue: {session_timeout: 1h30}\n", "1h30", ["session_timeout"]),
    (DEFAULTS, "queue: {session_timeout: 1:30:00}\n", "1:30", ["session_timeout"]),
    (DEFAULTS, "queue: {session_timeout: 9999999h}\n", "9999", ["292 years"]),
    (DEFAULTS, "system: {runbooks: {cache_ttl: -1m}}\n", "-1m", ["cache_ttl"]),
    # what is missing
    (CHAIN, "    chat: {enabled: true}\n", "enabled", ["chat.agent", "is missing"]),
    (DEFAULTS, "  alert_masking: {enabled: true}\n", "enabled", ["pattern_group"]),
    (DEFAULTS, "  fallback_providers: [{backend: langchain}]\n", "backend", ["provider"]),
    # times within each other
    (DEFAULTS, "  tool_call_timeout: 10m\n", "tool_call", ["iteration_timeout (360s)"]),
    (DEFAULTS, "  iteration_timeout: 1m\n", "iteration", ["must not be longer than"]),
    (DEFAULTS, "  first_token_timeout: 10m\n", "first_token", ["defaults.llm_call_timeout"]),
    (SERVER, "    tool_call_timeout: 7m\n", "tool_call", ["probe.tool_call_timeout"]),
    (SERVER, "    tool_call_timeout: 0s\n", "tool_call", ["must be more than 0s"]),
    (SERVER, "    tool_call_limit: 7m\n", "tool_call", ["probe.tool_call_limit"]),
    (SERVER, "    tool_call_limit: 30s\n", "tool_call",
     ["probe.tool_call_timeout must not be longer than", "probe.tool_call_limit"]),
    (SERVER, "    tool_call_timeouts: {dump: 7m}\n", "dump", ["tool_call_timeouts.dump"]),
    (SERVER, "    tool_call_timeouts: {dump: soon}\n", "dump", ["tool_call_timeouts.dump"]),
    (DEFAULTS, "  max_retries: 99\n", "max_retries", ["at most 20"]),
    (DEFAULTS, "  max_retries: -1\n", "max_retries", ["at least 0"]),
    # rules between keys
    (DEFAULTS, "  summarization: {llm_backend: langchain}\n", "llm_backend", ["llm_provider"]),
    (SERVER, "    summarization: {enabled: false, llm_provider: acme}\n", "false", ["is off"]),
    (SERVER, "    data_masking: {enabled: true, pattern_groups: [cloudy]}\n", "cloudy",
     ["'cloudy'", "did you mean 'cloud'"]),
    (CHAIN, "    sub_agents: [Mute]\n", "[Mute", ["'Mute'"]),
    (SERVER, "      url: '/relative'\n", "/relative", ["http://"]),
]  # fmt: skip
"""After which line, what is added, where in it the mistake stands, and words that name it."""


def test_a_mistake_is_named_with_its_line_and_what_would_be_right(check_files: Check):
    def check(case: tuple[str, str, str, list[str]]) -> None:
        after, text, at, words = case
        tarsy = added(after, text)

        report = check_files(tarsy)

        assert report.config is None
        assert ("tarsy.yaml", line_of(tarsy, at)) in places(report)
        assert all(word in printed(report) for word in words), printed(report)

    check_each(check, MISTAKES, str)


def test_all_mistakes_of_all_files_are_reported_at_once(check_files):
    tarsy = added(AGENT, "    max_iterations: none\n    required_skills: [dns]\n")
    tarsy += "queue:\n  worker_count: 99\n  poll_interval_jitter: 9s\n  heartbeat: 3s\n"
    providers = changed("type: google", "type: gogle", PROVIDERS)

    report = check_files(tarsy, providers, {}, dns="no front matter")

    for words in (
        "max_iterations: must be a whole number",
        "worker_count: must be at most 50",
        "poll_interval_jitter must be shorter",
        "did you mean 'heartbeat_interval'",
        "did you mean 'google'",
        "skills/dns/SKILL.md:1:",
    ):
        assert words in printed(report)


@pytest.mark.parametrize(
    ("kind", "needed"), [("stdio", "command"), ("http", "url"), ("sse", "url")]
)
def test_each_transport_asks_for_what_it_needs(check_files, kind, needed):
    tarsy = changed(f"      type: stdio\n{SERVER}", f"      type: {kind}\n      {needed}: ''\n")

    report = check_files(tarsy)

    assert f"probe.transport.{needed}: a server of type {kind} needs" in printed(report)
    assert ("tarsy.yaml", 5) in places(report)


def test_only_the_built_in_server_runs_in_process(check_files):
    report = check_files(changed(f"stdio\n{SERVER}", "in_process\n"))

    assert "only the built-in server ops" in printed(report)


@pytest.mark.parametrize(
    ("stage", "missing"),
    [
        ("      - agents: [{name: NetAgent}]\n", "stages[0].name: is missing"),
        ("      - name: look\n", "stages[0].agents: is missing"),
        ("      - {name: look, agents: []}\n", "stages[0].agents: must have at least one"),
        ("      - {name: look, agents: [{type: action}]}\n", "agents[0].name: is missing"),
    ],
)
def test_a_stage_without_what_it_needs_is_a_mistake(check_files, stage, missing):
    report = check_files(changed(f"{STAGE}        agents:\n{STAGE_AGENT}", stage))

    assert missing in printed(report)
    assert ("tarsy.yaml", 14) in places(report)


def test_an_alert_type_goes_to_one_chain(check_files):
    second = (
        "  second:\n    alert_types: [net]\n    stages: [{name: a, agents: [{name: NetAgent}]}]\n"
    )

    report = check_files(changed("defaults:\n", second + "defaults:\n"))

    assert "'net' is an alert type of agent_chains.net" in printed(report)
    assert places(report) == {("tarsy.yaml", 18)}


@pytest.mark.parametrize(
    "pattern",
    ["a(?=b)", "(?<!a)b", r"(a)\1", "a{1001}", "(?>a)b", "[a-", "a" * 501, "(?P<n>a)(?P=n)"],
)
def test_a_pattern_that_re2_cannot_run_is_a_mistake_and_is_not_quoted(check_files, pattern):
    block = f"    data_masking:\n      custom_patterns:\n        - pattern: '{pattern}'\n"

    report = check_files(added(SERVER, f"{block}          replacement: x\n"))

    assert places(report) == {("tarsy.yaml", 8)}
    assert "custom_patterns[0].pattern" in printed(report)
    assert pattern not in printed(report)


def test_a_pattern_that_would_freeze_a_backtracking_engine_is_fine(check_files):
    block = "    data_masking: {custom_patterns: [{pattern: '^(a+)+$', replacement: x}]}\n"

    assert check_files(added(SERVER, block)).mistakes == ()


@pytest.mark.parametrize(
    ("promotions", "words"),
    [
        ("{model: m, end: 2026-02-30, RATES}", "end: must be a day such as"),
        ("{model: m, start: 2026-05-01, end: 2026-05-01, RATES}", "must be later than start"),
        ("{model: m, RATES}", "end: is missing"),
        ("{id: a, model: m, end: 2026-05-01, RATES}, {id: a, model: n, end: 2026-05-01, RATES}",
         "'a' is the id of another"),
        ("{model: m, end: 2026-05-01, RATES}, "
         "{model: m, start: 2026-04-30, end: 2026-06-01, RATES}",
         "overlaps another"),
        ("{model: m, end: 2026-05-01, input_per_million: .nan, output_per_million: 1}", "finite"),
        ("{model: m, end: 2026-05-01, input_per_million: 1}", "output_per_million: is missing"),
    ],
)  # fmt: skip
def test_promotions_that_contradict_themselves_or_each_other_are_mistakes(
    check_files, promotions, words
):
    rates = "input_per_million: 1, output_per_million: 2"
    block = f"system: {{cost_estimation: {{promotions: [{promotions.replace('RATES', rates)}]}}}}\n"

    assert words in printed(check_files(block + TARSY))


def test_windows_that_touch_do_not_overlap(check_files):
    rates = "input_per_million: 1, output_per_million: 2"
    windows = (
        f"{{model: m, end: 2026-05-01, {rates}}}, "
        f"{{model: m, start: 2026-05-01T02:00:00+02:00, end: 2027-01-01, {rates}}}"
    )

    report = check_files(f"system: {{cost_estimation: {{promotions: [{windows}]}}}}\n" + TARSY)

    assert report.mistakes == ()


@pytest.mark.parametrize("value", [None, "", "  "])
def test_the_key_of_a_provider_in_use_must_be_set(check_files, value):
    environ = {} if value is None else {"ACME_KEY": value}

    report = check_files(environ=environ)

    assert "'acme' needs ACME_KEY in the environment" in printed(report)
    assert ("tarsy.yaml", 18) in places(report)


def test_the_key_of_a_provider_that_nobody_uses_may_be_missing(check_files):
    spare = "  spare: {type: xai, model: m, api_key_env: SPARE_KEY}\n"

    assert check_files(providers=PROVIDERS + spare).mistakes == ()


@pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
def test_a_google_provider_takes_either_usual_variable(check_files, variable):
    report = check_files(changed(DEFAULTS, "  llm_provider: google-default\n"), "", {variable: "x"})

    assert report.mistakes == ()


def test_vertex_needs_its_project_and_location(check_files):
    tarsy = changed(DEFAULTS, "  llm_provider: vertexai-default\n")

    report = check_files(tarsy, environ={"GOOGLE_CLOUD_LOCATION": "here"})

    assert "GOOGLE_CLOUD_PROJECT" in printed(report)
    assert "GOOGLE_CLOUD_LOCATION" not in printed(report)


@pytest.mark.parametrize(("value", "is_told"), [("CHANGEME", True), ("given", False)])
def test_the_word_of_the_example_is_told_of_whatever_variable_a_file_names(
    check_files, value, is_told
):
    server = "      type: http\n      url: http://a.example/mcp\n      bearer_token: '{{.PROBE}}'\n"
    tarsy = changed("      type: stdio\n      command: probe-mcp\n", server)
    providers = PROVIDERS.replace("ACME_KEY", "ACME")

    report = check_files(tarsy, providers, {"ACME": value, "PROBE": value, "HOME": "/"})

    told = [mistake.file for mistake in report.needs if "CHANGEME" in mistake.message]
    assert told == (["tarsy.yaml", "llm-providers.yaml"] if is_told else [])


@pytest.mark.parametrize(("environ", "words"), [
    ({}, ["SLACK_BOT_TOKEN", "channel"]),
    ({"SLACK_BOT_TOKEN": "invented-slack-token"}, ["channel"]),
])  # fmt: skip
def test_slack_needs_a_channel_and_a_token(check_files, environ, words):
    report = check_files("system: {slack: {enabled: true}}\n" + TARSY, environ=ENVIRON | environ)

    assert all(word in printed(report) for word in words)
    assert "invented-slack-token" not in printed(report)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Just text.\n", "begins with ---"),
        ("---\nname: dns\ndescription: d\n", "never closed"),
        ("---\nname: dns\ndescription: d\n--- \nnot alone ---\n".replace("--- \n", "---x\n"),
         "never closed"),
        ("---\nname: dns\n---\nText.\n", "description is missing"),
        ("---\nname: [dns\n---\nText.\n", "not YAML"),
    ],
)  # fmt: skip
def test_a_broken_skill_is_a_mistake_in_its_own_file(check_files, text, words):
    report = check_files(added(AGENT, "    required_skills: [dns]\n"), dns=text)

    assert words in printed(report)
    assert {mistake.file for mistake in report.mistakes} == {"skills/dns/SKILL.md"}


def test_two_skills_of_one_name_are_a_mistake(check_files):
    skill = "---\nname: dns\ndescription: d\n---\nText.\n"

    report = check_files(one=skill, two=skill)

    assert [mistake.file for mistake in report.mistakes] == ["skills/two/SKILL.md"]


def test_providers_in_the_wrong_file_are_warned_of(check_files):
    report = check_files(TARSY + "llm_providers: {}\n", PROVIDERS + "queue: {}\n")

    assert report.mistakes == ()
    assert "llm_providers: not read here, it belongs into llm-providers.yaml" in printed(report)
    assert ("llm-providers.yaml", 6) in {(found.file, found.line) for found in report.warnings}


def test_a_window_that_could_hold_no_question_is_refused(check_files):
    providers = changed("type: google", "type: google\n    context_window: 999", PROVIDERS)

    report = check_files(providers=providers)

    assert "context_window: must be at least 1000" in printed(report)
