"""What is right loads, keeps its values, and warns only where a warning helps."""

from datetime import UTC, datetime, timedelta

import pytest

from config.access import DEFAULT_DIR, load_config
from config.check import check
from config.providers import choose_provider
from tarsy.errors import ConfigError
from tests.config.conftest import ENVIRON, PROVIDERS, TARSY, changed, printed

FULL = """\
system:
  dashboard_url: https://tarsy.example.com
  allowed_ws_origins: ['https://*.example.com']
  github: {token_env: MY_GITHUB}
  runbooks:
    repo_url: https://github.com/acme/runbooks/tree/main/docs
    cache_ttl: 5m
    allowed_domains: [github.com, runbooks.example.com]
  slack: {enabled: true, channel: C01}
  cost_estimation:
    model_rates: {m1: {input_per_million: 1, output_per_million: 2.5}}
    promotions: [{id: p, model: m1, end: 2026-03-01, input_per_million: 0, output_per_million: 0}]
  retention: {session_retention_days: 90, event_ttl: 2h, cleanup_interval: 6h}
  holidays: [{date: 05-01, name: Labour Day}, {date: 02-29, name: Leap}]
mcp_servers:
  remote:
    transport:
      type: http
      url: https://mcp.example.com/mcp
      bearer_token: '{{.REMOTE_TOKEN}}'
      verify_ssl: false
      timeout: 30
      custom_headers: {X-Run: '{{.SESSION_ID}}'}
      session_cleanup_url: https://mcp.example.com/done
    instructions: |
      Be brief.
    data_masking:
      enabled: true
      pattern_groups: [kubernetes, cloud]
      patterns: [email]
      custom_patterns: [{pattern: 'ACME-[0-9]{8}', replacement: '[ACME]', description: numbers}]
    summarization: {size_threshold_tokens: 200, summary_max_token_limit: 50, llm_provider: acme}
    tools:
      list_things: read
      change: {argument: action, values: {get: read, find: resolve}, default: write,
               repairs: [restart], autonomous: [drop], accepts: {replicas: [3, '4']}}
    trust_annotations: true
agents:
  NetAgent:
    type: action
    description: Looks at the network
    mcp_servers: [remote]
    custom_instructions: Say which link.
    llm_backend: google-native
    max_iterations: 7
    native_tools: {google_search: true, url_context: false}
    orchestrator: {max_concurrent_agents: 1, agent_timeout: 30s, max_budget: 1m}
    skills: []
    required_skills: [dns]
    control_level: controlled
agent_chains:
  net:
    alert_types: [net, dns]
    description: Networks
    chat: {enabled: true, agent: ChatAgent, max_iterations: 3, mcp_servers: [remote]}
    scoring: {enabled: true, agent: ScoringAgent}
    llm_provider: acme
    executive_summary_provider: acme
    fallback_providers: [{provider: acme, backend: google-native}]
    sub_agents: [GeneralWorker, {name: WebResearcher, max_iterations: 2}]
    stages:
      - name: look
        replicas: 2
        success_policy: all
        synthesis: {agent: SynthesisAgent, llm_backend: langchain}
        control_level: read_only
        agents:
          - name: NetAgent
            type: action
            skills: [dns]
defaults:
  llm_provider: acme
  alert_type: net
  runbook: |
    # Start here
  alert_masking: {enabled: true, pattern_group: all}
  memory: {enabled: true, embedding: {api_key_env: ACME_KEY}}
  control_level: autonomous
queue:
  worker_count: 50
  max_queue_size: 100
  session_timeout: 1h30m
  approval_timeout: 90s
  poll_interval: 1.5s
  poll_interval_jitter: 1499ms
"""
SKILL = "---\r\nname: dns\r\ndescription: How names resolve\r\n---\r\nFirst ask the resolver.\r\n"


def test_every_key_loads_and_keeps_its_value(check_files):
    environ = ENVIRON | {"SLACK_BOT_TOKEN": "invented", "REMOTE_TOKEN": "invented-remote"}

    report = check_files(FULL, environ=environ, dns=SKILL)

    assert report.mistakes == ()
    config = report.config
    assert config.queue.session_timeout == timedelta(minutes=90)
    assert config.queue.approval_timeout == timedelta(seconds=90)
    assert config.queue.poll_interval_jitter == timedelta(milliseconds=1499)
    assert config.queue.heartbeat_interval == timedelta(seconds=30)
    remote = config.mcp_servers["remote"]
    assert remote.name == "remote"
    assert remote.transport.bearer_token == "invented-remote"
    assert remote.trusts_annotations
    assert remote.tools["list_things"].class_of({"action": "drop"}) == "read"
    assert remote.tools["change"].class_of({"action": "find"}) == "resolve"
    assert remote.tools["change"].class_of({"action": ["get"]}) == "write"
    assert remote.tools["change"].class_of({}) == "write"
    change = remote.tools["change"]
    assert (change.repairs, change.autonomous) == (("restart",), ("drop",))
    assert dict(change.accepts) == {"replicas": ("3", "4")}
    promotion = config.system.cost_estimation.promotions[0]
    assert promotion.start is None
    assert promotion.end == datetime(2026, 3, 1, tzinfo=UTC)
    assert config.skills["dns"].body == "First ask the resolver."
    assert config.chain_for("dns") is config.chains["net"]
    assert config.chain_for("unheard of") is None
    assert config.alert_types() == ("dns", "host", "kubernetes", "net")
    assert config.default_alert_type == "net"


def test_features_that_do_not_run_yet_are_warned_of(check_files):
    environ = ENVIRON | {"SLACK_BOT_TOKEN": "invented"}

    report = check_files(FULL, environ=environ, dns=SKILL)

    for feature in ("scoring", "memory", "sub-agents", "orchestration", "cost promotions"):
        assert feature in "\n".join(map(str, report.warnings))


@pytest.mark.parametrize("written", ["2", "2.0", "2e0", "2E+0", "2.e0"])
def test_a_rate_may_be_written_in_every_way_that_yaml_knows(check_files, written):
    rates = f"{{m: {{input_per_million: {written}, output_per_million: 1}}}}"

    report = check_files(f"system: {{cost_estimation: {{model_rates: {rates}}}}}\n" + TARSY)

    assert report.mistakes == ()
    assert report.config.system.cost_estimation.model_rates["m"].input_per_million == 2.0


def test_secrets_do_not_show_when_a_server_is_printed(check_files):
    environ = ENVIRON | {"SLACK_BOT_TOKEN": "x", "REMOTE_TOKEN": "invented-remote"}

    config = check_files(FULL, environ=environ, dns=SKILL).config

    assert "invented-remote" not in repr(config)


def test_nothing_of_a_configuration_can_be_changed(check_files):
    config = check_files().config

    with pytest.raises(TypeError):
        config.agents["Other"] = config.agents["NetAgent"]
    with pytest.raises(TypeError):
        config.mcp_servers["probe"].transport.env["A"] = "b"
    with pytest.raises(ValueError, match="frozen"):
        config.queue.worker_count = 3


def test_empty_files_give_the_built_ins(check_files):
    report = check_files("", "", {})

    assert report.mistakes == ()
    assert report.config.alert_types() == ("host", "kubernetes")
    assert report.config.defaults.llm_provider == "rehearsal"
    assert "scripted rehearsal model" in printed(report)


def test_the_shipped_directory_is_right_and_is_about_hosts():
    config = load_config(DEFAULT_DIR, {})

    assert config.default_alert_type == "host"
    stage = config.chains["host"].stages[0]
    assert [agent.name for agent in stage.agents] == ["DiskAgent", "MemoryAgent"]
    assert config.agents["DiskAgent"].mcp_servers == ("ops",)
    assert config.mcp_servers["ops"].transport.type == "in_process"
    assert config.mcp_servers["ops"].trusts_annotations
    assert config.defaults.control_level == "read_only"


def test_loading_a_wrong_directory_raises_every_mistake(write):
    text = "queue: {worker_count: 0x}\ndefaults: {llm_provider: nobody}\n"
    directory = write({"tarsy.yaml": text})

    with pytest.raises(ConfigError) as raised:
        load_config(directory, {})

    assert len(raised.value.mistakes) == 2
    assert "tarsy.yaml:1: queue.worker_count: must be a whole number" in str(raised.value)


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"KUBECONFIG": "/etc/k: 'c"}, "/etc/k: 'c"),
        ({"HOME": "/home/me"}, "/home/me/.kube/config"),
        ({"HOME": "/home/me", "KUBECONFIG": ""}, "/home/me/.kube/config"),
    ],
)
def test_the_built_in_server_gets_a_real_kubeconfig(check_files, environ, path):
    config = check_files(environ=ENVIRON | environ).config

    assert config.mcp_servers["kubernetes-server"].transport.args[-1] == path


def test_an_entry_of_ones_own_replaces_the_whole_built_in_one(check_files):
    tarsy = changed("agents:\n  NetAgent:", "agents:\n  HostAgent: {}\n  NetAgent:")

    host = check_files(tarsy).config.agents["HostAgent"]

    assert (host.mcp_servers, host.custom_instructions) == ((), "")


@pytest.mark.parametrize("alert_type", ["host", "kubernetes"])
def test_a_built_in_chain_leaves_its_alert_type_to_the_operators(check_files, alert_type):
    tarsy = changed("alert_types: [net]", f"alert_types: [net, {alert_type}]")

    config = check_files(tarsy).config

    assert config.chain_for(alert_type).name == "net"
    assert alert_type not in config.chains


@pytest.mark.parametrize(
    ("environ", "provider"),
    [
        ({}, "rehearsal"),
        ({"OPENAI_API_KEY": " "}, "rehearsal"),
        ({"XAI_API_KEY": "x"}, "xai-default"),
        ({"XAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x"}, "anthropic-default"),
        ({"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x"}, "openai-default"),
        ({"GOOGLE_API_KEY": "x", "OPENAI_API_KEY": "x"}, "google-default"),
        ({"GEMINI_API_KEY": "x"}, "google-default"),
        ({"OPENAI_BASE_URL": "http://l.example.com", "GEMINI_API_KEY": "x"}, "openai-compatible"),
    ],
)
def test_the_environment_chooses_the_provider_where_none_is_named(check_files, environ, provider):
    report = check_files(changed("  llm_provider: acme\n", ""), PROVIDERS, environ)

    assert choose_provider(environ) == provider
    assert report.mistakes == ()
    assert report.config.defaults.llm_provider == provider


def test_an_endpoint_of_ones_own_needs_no_key(check_files):
    environ = {"OPENAI_BASE_URL": "http://llm.example.com/v1"}

    provider = check_files("", "", environ).config.llm_providers["openai-compatible"]

    assert provider.base_url == "http://llm.example.com/v1"
    assert provider.model == "gpt-5.2"
    assert provider.api_key(environ) is None
    assert provider.api_key(environ | {"OPENAI_API_KEY": " k "}) == "k"


def test_the_model_of_that_endpoint_can_be_named(check_files):
    environ = {"OPENAI_BASE_URL": "http://l.example.com", "OPENAI_MODEL": "my-7b"}

    assert check_files("", "", environ).config.llm_providers["openai-compatible"].model == "my-7b"


@pytest.mark.parametrize(
    ("text", "warning", "kept"),
    [
        ("queue: {worker_count: 0}\n", "worker_count", lambda c: c.queue.worker_count == 5),
        ("queue: {session_timeout: 0s}\n", "session_timeout",
         lambda c: c.queue.session_timeout == timedelta(minutes=40)),
        ("system: {retention: {event_ttl: -1h}}\n", "event_ttl",
         lambda c: c.system.retention.event_ttl == timedelta(hours=1)),
        ("system: {runbooks: {cache_ttl: soon}}\n", "cache_ttl",
         lambda c: c.system.runbooks.cache_ttl == timedelta(minutes=1)),
        ("system: {holidays: [{date: 02-30, name: x}, {date: 05-01, name: y}]}\n", "holidays[0]",
         lambda c: [h.date for h in c.system.holidays] == ["05-01"]),
    ],
)  # fmt: skip
def test_what_upstream_forgives_is_warned_of_and_gets_its_default(check_files, text, warning, kept):
    report = check_files(TARSY + text)

    assert report.mistakes == ()
    assert warning in printed(report)
    assert kept(report.config)


def test_keys_that_upstream_dropped_are_warnings(check_files):
    report = check_files(providers=PROVIDERS + "    max_tool_result_tokens: 9000\n")

    assert report.mistakes == ()
    assert "max_tool_result_tokens: is no longer used" in printed(report)


def test_flat_skill_files_count_and_hidden_ones_do_not(write):
    skill = "---\nname: dns\ndescription: d\n---\nText.\n"
    files = {"tarsy.yaml": TARSY, "llm-providers.yaml": PROVIDERS}

    directory = write(files | {"skills/dns.md": skill, "skills/..data": skill})

    assert list(load_config(directory, ENVIRON).skills) == ["dns"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("queue: {worker_count: 3}\n", "worker_count"),
        ("queue: {orphan_threshold: 3m}\n", "TARSY_LEASE_STALE_SECONDS"),
    ],
)  # fmt: skip
def test_a_key_that_changes_nothing_says_what_holds_instead(tmp_path, text: str, hint: str):
    (tmp_path / "tarsy.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "llm-providers.yaml").write_text("llm_providers: {}\n", encoding="utf-8")

    report = check(tmp_path, {})

    assert report.config is not None
    assert hint in printed(report)


def test_it_is_remembered_what_came_from_the_environment(check_files):
    text = TARSY.replace(
        "command: probe-mcp", "command: '{{.TOOL}}'\n      args: [-v, '{{.TOKEN}}']"
    )
    text = text.replace("description: Looks at", "description: Looks after {{.TOKEN}} at")
    text += (
        "system: {cost_estimation: {model_rates: {'{{.TOKEN}}': "
        "{input_per_million: 1, output_per_million: 1}}}}\n"
    )

    report = check_files(text, environ={**ENVIRON, "TOOL": "probe", "TOKEN": "t0ken"})

    assert report.config.from_environment >= {
        ("mcp_servers", "probe", "transport", "command"),
        ("mcp_servers", "probe", "transport", "args", 1),
        ("agents", "NetAgent", "description"),
        ("system", "cost_estimation", "model_rates", "t0ken"),
    }
    assert ("mcp_servers", "probe", "transport", "args", 0) not in report.config.from_environment


def test_times_are_said_once_for_all_and_anew_for_a_provider_or_a_server(check_files):
    tarsy = changed("  probe:\n", "  other:\n    transport: {type: stdio, command: o}\n  probe:\n")
    tarsy = tarsy.replace("  probe:\n", "  probe:\n    tool_call_timeout: 4m\n")
    tarsy += "  tool_call_timeout: 2m\n  silence_timeout: 30s\n"
    providers = (
        PROVIDERS + "    silence_timeout: 3m\n    retry_after_limit: 10m\n    max_retries: 0\n"
    )

    config = check_files(tarsy, providers).config

    assert config.mcp_servers["probe"].tool_call_timeout == timedelta(minutes=4)
    assert config.mcp_servers["other"].tool_call_timeout == timedelta(minutes=2)
    acme, built_in = config.llm_providers["acme"], config.llm_providers["openai-default"]
    assert (acme.silence_timeout, built_in.silence_timeout) == (
        timedelta(minutes=3),
        timedelta(seconds=30),
    )
    assert (acme.retry_after_limit, built_in.retry_after_limit) == (
        timedelta(minutes=10),
        timedelta(seconds=10),
    )
    assert (acme.max_retries, built_in.max_retries) == (0, 2)
    assert built_in.name == "openai-default"


@pytest.mark.parametrize(
    ("tarsy", "providers", "warning"),
    [
        ("queue: {session_timeout: 5m}\n", "", "defaults.iteration_timeout is longer than"),
        ("queue: {session_timeout: 5s}\n", "", "defaults.retry_after_limit is longer than"),
        ("", "    retry_after_limit: 1h\n", "llm_providers.acme.retry_after_limit is longer than"),
    ],
)
def test_a_time_that_no_session_has_is_warned_of(check_files, tarsy, providers, warning):
    report = check_files(TARSY + tarsy, PROVIDERS + providers)

    assert report.config is not None
    warnings = [each.message for each in report.warnings if warning in each.message]
    assert len(warnings) == 1
    assert "queue.session_timeout" in warnings[0]


def test_without_a_word_the_documented_times_hold(check_files):
    config = check_files().config

    times = config.llm_providers["acme"]
    assert config.mcp_servers["probe"].tool_call_timeout == timedelta(seconds=90)
    assert times.first_token_timeout == timedelta(seconds=120)
    assert times.silence_timeout == timedelta(seconds=60)
    assert times.llm_call_timeout == timedelta(minutes=5)
    assert times.retry_after_limit == timedelta(seconds=10)
    assert times.max_retries == 2
    assert config.mcp_servers["probe"].tool_call_limit == timedelta(minutes=5)
    assert config.defaults.iteration_timeout == timedelta(minutes=6)
    assert config.queue.max_queue_size == 10_000


@pytest.mark.parametrize("written", ["null", "~", "none", ""])
def test_null_lifts_a_limit(check_files, written):
    lifted = f"queue: {{max_queue_size: {written}}}\nsystem: {{limits: {{questions: {written}}}}}\n"

    config = check_files(TARSY + lifted).config

    assert config.queue.max_queue_size is None
    assert config.system.limits.questions is None
    assert config.system.limits.alerts == 6000


def test_a_variable_without_a_value_lifts_no_limit(check_files):
    report = check_files(TARSY + "queue: {max_queue_size: {{.GONE}}}\n")

    assert report.config.queue.max_queue_size == 10_000
    assert "{{.GONE}} is not set" in printed(report)


def test_a_short_time_for_a_whole_answer_needs_no_shorter_one_for_its_beginning(check_files):
    tarsy = changed("defaults:\n", "defaults:\n  llm_call_timeout: 90s\n")

    assert check_files(tarsy).mistakes == ()
