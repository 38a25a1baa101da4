"""From bytes to a tree: templates, YAML, and what must not get through."""

from itertools import product
from pathlib import Path

import pytest

import config
from config import pack_files
from config.templates import Expanded
from config.yaml_reader import parse_tree, read_shipped
from tarsy.errors import ConfigError
from tests.cases import check_each
from tests.config.conftest import ENVIRON, PROVIDERS, TARSY, Check, changed, places, printed

SECRET = "invented-hidden-value-17"


def bomb(levels: int, width: int) -> str:
    lines = ["a0: &a0 [x]"]
    for level in range(1, levels):
        aliases = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"a{level}: &a{level} [{aliases}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("just a sentence", 1),
        ("- a\n- list", 1),
        ("queue: [1, 2", 1),
        ("queue:\n\tworker_count: 3", 2),
        ("a: 1\n---\nb: 2", 2),
        ("queue: *nowhere", 1),
        ("queue: &q\n  more: *q", 2),
        ("queue:\n  worker_count: !!python/name:os.system 3", 2),
        ("queue:\n  worker_count: 3\x00", 2),
        (b"queue:\n  worker_count: \xff\xfe", 2),
        ("? [a, b]\n: c", 1),
        ("<<: text", 1),
        (bomb(9, 9), 1),
        (bomb(90, 1), 1),
        ("queue: " + "[" * 3000 + "]" * 3000, 1),
        ("queue: " + "{a: " * 3000 + "}" * 3000, 1),
        ("# " + "x" * (1024 * 1024), 0),
        ("agents: [" + "a," * 60_000 + "]", 1),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line(check_files, text, line):
    report = check_files(text)

    assert report.config is None
    assert ("tarsy.yaml", line) in places(report)


def test_a_bomb_is_one_mistake(check_files):
    assert len(check_files(bomb(9, 9)).mistakes) == 1


def test_a_broken_file_does_not_hide_the_mistakes_of_the_other(check_files):
    report = check_files(TARSY + "queue: {worker_count: 0x}\n", "llm_providers: [")

    assert {file for file, _ in places(report)} == {"tarsy.yaml", "llm-providers.yaml"}
    assert "'acme'" not in printed(report)  # it may well be in the file that cannot be read


def test_a_missing_file_of_chains_is_named(write):
    from config.check import check

    report = check(write({"llm-providers.yaml": PROVIDERS}), ENVIRON)

    assert "tarsy.yaml: the file is missing" in printed(report)


def test_without_a_file_of_providers_the_built_in_ones_are_there(write):
    from config.check import check

    text = TARSY.replace("llm_provider: acme", "llm_provider: google-default")

    report = check(write({"tarsy.yaml": text}), {"GOOGLE_API_KEY": "invented"})

    assert report.mistakes == ()
    assert "there is no llm-providers.yaml" in printed(report)


def test_a_provider_that_only_the_missing_file_could_define_is_a_mistake_that_says_so(write):
    from config.check import check

    report = check(write({"tarsy.yaml": TARSY}), ENVIRON)

    assert "'acme'" in printed(report)
    assert "there is no llm-providers.yaml that could define it" in printed(report)


def test_a_missing_directory_is_one_mistake(tmp_path):
    from config.check import check

    report = check(tmp_path / "nowhere", ENVIRON)

    assert len(report.mistakes) == 1
    assert "CONFIG_DIR" in printed(report)


def test_a_key_that_stands_twice_is_a_mistake(check_files):
    report = check_files(TARSY + "agents:\n  Other: {}\n")

    assert places(report) >= {("tarsy.yaml", 19)}
    assert "'agents' stands here twice (first on line 6)" in printed(report)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: "# 磁盘 🔥\n---\n" + text,
        lambda text: text + "x-shared: {anything: goes}\n",
        lambda text: text.replace("defaults:", "queue:\nsystem: null\ndefaults:"),
        lambda text: text.replace("  NetAgent:", "  Idle:\n  NetAgent:"),
        lambda text: text.replace(
            "command: probe-mcp", "command: p\n      env: {PORT: 8081, A: no}"
        ),
    ],
)
def test_what_yaml_allows_is_allowed(check_files, change):
    report = check_files(change(TARSY))

    assert (report.mistakes, report.warnings) == ((), ())


def test_text_is_taken_as_it_is_written(check_files):
    tarsy = changed("command: probe-mcp", "command: p\n      env: {PORT: 0810, ON: yes}")

    env = check_files(tarsy).config.mcp_servers["probe"].transport.env

    assert env == {"PORT": "0810", "ON": "yes"}


def test_anchors_and_merge_keys_work(check_files):
    servers = """\
  second: &second
    transport: {type: stdio, command: q}
  third:
    <<: *second
    instructions: x
"""
    tarsy = changed("agents:\n  NetAgent", servers + "agents:\n  NetAgent")

    config = check_files(tarsy).config

    assert config.mcp_servers["third"].transport.command == "q"
    assert config.mcp_servers["third"].instructions == "x"


def test_variables_are_replaced_before_yaml_is_read(check_files):
    tarsy = changed(
        "command: probe-mcp", "command: '{{ .TOOL }}'\n      args: ['$HOME', {{.LIST}}]"
    )

    config = check_files(tarsy, environ=ENVIRON | {"TOOL": "t", "LIST": "a, b"}).config
    transport = config.mcp_servers["probe"].transport

    assert transport.command == "t"
    assert transport.args == ("$HOME", "a", "b")


def test_the_execution_id_is_left_for_later(check_files):
    tarsy = changed(
        "type: stdio\n      command: probe-mcp",
        "type: sse\n      url: http://m.example.com\n      custom_headers: {X: '{{.SESSION_ID}}'}",
    )

    config = check_files(tarsy, environ=ENVIRON | {"SESSION_ID": "no"}).config

    assert config.mcp_servers["probe"].transport.custom_headers == {"X": "{{.SESSION_ID}}"}


def test_a_variable_that_is_not_set_leaves_its_place_empty(check_files):
    tarsy = changed("      command: probe-mcp", "      command: {{.NOT_SET}}")

    report = check_files(tarsy)

    assert places(report) == {("tarsy.yaml", 5)}
    assert "probe.transport.command" in printed(report)


def test_a_template_of_another_form_is_warned_of(check_files):
    report = check_files(changed("probe-mcp", "'{{TOOL}}'"))

    assert report.mistakes == ()
    assert "tarsy.yaml:5: {{TOOL}} is not replaced; write {{.TOOL}} with the dot" in printed(report)


def test_lines_hold_behind_a_value_of_several_lines(check_files):
    tarsy = 'system: {slack: {channel: "{{.MANY}}"}}\n' + TARSY + "queue: {worker_count: 99}\n"

    report = check_files(tarsy, environ=ENVIRON | {"MANY": "a\n\n\n  b" * 50})

    assert places(report) == {("tarsy.yaml", 20)}


SUBSTITUTED = [
    ("          - name: NetAgent", "          - name: {{.S}}"),
    ("llm_provider: acme", "llm_provider: {{.S}}"),
    ("alert_types: [net]", "alert_types: [net, {{.S}}, {{.S}}]"),
    ("      type: stdio", "      type: {{.S}}"),
    ("      type: stdio", "      {{.S}}: stdio"),
    ("      type: stdio", "      type: {{.S}}: x"),
    ("  probe:", "  {{.S}}:"),
    ("  probe:", "  probe: {}\n  {{.S}}: {}\n  {{.S}}:"),
    ("      command: probe-mcp", "      command: *{{.S}}"),
    ("      command: probe-mcp", "      command: !{{.S}} x"),
    ("      command: probe-mcp", "      command: [{{.S}}]"),
    ("      command: probe-mcp", "      env: {{.S}}"),
    ("defaults:", "queue: {session_timeout: {{.S}}}\ndefaults:"),
    ("defaults:", "system: {dashboard_url: {{.S}}}\ndefaults:"),
    ("defaults:", "system: {holidays: [{date: {{.S}}, name: x}]}\ndefaults:"),
    ("defaults:", "system: {slack: {enabled: true, token_env: {{.S}}, channel: c}}\ndefaults:"),
    ("defaults:", "system: {cost_estimation: {promotions: [{end: {{.S}}}]}}\ndefaults:"),
]  # fmt: skip
SECRETS = [SECRET, "INVENTED_HIDDEN_VALUE", "a: 'b\"invented-hidden", "*invented"]


def test_a_substituted_value_is_never_printed(check_files: Check):
    def check(case: tuple[tuple[str, str], str]) -> None:
        (old, new), secret = case

        report = check_files(changed(old, new), environ=ENVIRON | {"S": secret})

        assert secret not in printed(report)
        assert "invented" not in printed(report).lower()

    check_each(check, list(product(SUBSTITUTED, SECRETS)), str)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("api_key_env: ACME_KEY", f"api_key_env: {SECRET}"),
        ("api_key_env: ACME_KEY", f"api_key: {SECRET}"),
        ("api_key_env: ACME_KEY", "api_key_env: {{.ACME_KEY}}"),
        ("api_key_env: ACME_KEY", "api_key_env: {{.OTHER}}"),
        ("api_key_env: ACME_KEY", "api_key_env: skInventedHiddenValue17"),
    ],
)
def test_a_key_written_where_its_variable_belongs_is_never_printed(check_files, old, new):
    environ = ENVIRON | {"OTHER": "INVENTEDHIDDEN"}

    report = check_files(providers=changed(old, new, PROVIDERS), environ=environ)

    assert report.mistakes
    assert "invented" not in printed(report).lower()


@pytest.mark.parametrize(
    "line",
    [
        f"custom_headers: 'X-Key {SECRET}'", f"bearer_token: [{SECRET}]", f"env: [{SECRET}]",
        f"bearer_token: *{SECRET}", f"bearer_token: !{SECRET} x", f"url: {SECRET}",
        f"bearer_token: \"{SECRET}",
    ],
)  # fmt: skip
def test_a_secret_in_a_wrong_value_is_not_printed(check_files, line):
    report = check_files(changed("      command: probe-mcp", f"      {line}"))

    assert report.mistakes
    assert SECRET not in printed(report)


@pytest.mark.parametrize(
    "path",
    [*sorted(pack_files.BUILT_IN.glob("*.yaml")), Path(config.__file__).with_name("builtin.yaml")],
    ids=lambda path: path.name,
)
def test_what_ships_is_read_as_an_operators_file_would_be(path):
    text = path.read_text(encoding="utf-8")

    assert read_shipped(path, "it") == parse_tree(Expanded(text, text, ()), "it")


def test_what_ships_and_is_no_yaml_is_told(tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("looks: [1, 2")

    with pytest.raises(ConfigError, match="it: this is not YAML"):
        read_shipped(path, "it")
