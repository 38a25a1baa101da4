"""`manage.py check_config`. No test here may touch the database: pytest-django sees to it."""

import pytest
from django.core.management import call_command

from config.access import load_config
from tests.config.conftest import ENVIRON, PROVIDERS, TARSY


def test_a_right_directory_is_summed_up(write, monkeypatch, capsys):
    monkeypatch.setenv("ACME_KEY", "invented-key")
    directory = write({"tarsy.yaml": TARSY, "llm-providers.yaml": PROVIDERS})

    call_command("check_config", config_dir=directory)

    out = capsys.readouterr().out
    assert "OK (3 chains for host, kubernetes, net;" in out
    assert "invented-key" not in out


def test_a_wrong_directory_is_listed_and_exits_1(write, capsys):
    text = TARSY + "queue: {worker_count: 99, worker_cout: 1}\n"
    directory = write({"tarsy.yaml": text, "llm-providers.yaml": PROVIDERS})

    with pytest.raises(SystemExit) as raised:
        call_command("check_config", "--config-dir", str(directory))

    assert raised.value.code == 1
    out = capsys.readouterr().out
    assert "tarsy.yaml:19: queue.worker_count: must be at most 50" in out
    assert "did you mean 'worker_count'" in out
    assert "3 mistakes" in out  # the third: the key of the provider is not set


def test_unknown_keys_fail_only_where_it_is_asked_to_be_strict(write, monkeypatch, capsys):
    monkeypatch.setenv("ACME_KEY", "invented-key")
    text = TARSY + "queue: {colour: 1}\n"
    directory = write({"tarsy.yaml": text, "llm-providers.yaml": PROVIDERS})

    call_command("check_config", config_dir=directory)
    with pytest.raises(SystemExit) as raised:
        call_command("check_config", "--strict", config_dir=directory)

    lenient, _, strict = capsys.readouterr().out.partition("OK (")
    assert "warning: tarsy.yaml:19: queue.colour: unknown key, without effect" in lenient
    assert raised.value.code == 1
    assert "tarsy.yaml:19: queue.colour: unknown key" in strict


def test_a_key_that_the_environment_lacks_fails_the_check_and_not_the_load(
    write, monkeypatch, capsys
):
    monkeypatch.delenv("ACME_KEY", raising=False)
    directory = write({"tarsy.yaml": TARSY, "llm-providers.yaml": PROVIDERS})

    config = load_config(directory, {})
    with pytest.raises(SystemExit):
        call_command("check_config", config_dir=directory)

    assert "'acme' needs ACME_KEY in the environment" in str(config.needs[0])
    assert "1 thing is missing in the environment" in capsys.readouterr().out


def test_warnings_are_printed_and_do_not_fail(write, monkeypatch, capsys):
    monkeypatch.setenv("ACME_KEY", "invented-key")
    text = TARSY + "queue: {worker_count: 0}\n"
    directory = write({"tarsy.yaml": text, "llm-providers.yaml": PROVIDERS})

    call_command("check_config", config_dir=directory)

    assert "warning: tarsy.yaml:19: queue.worker_count" in capsys.readouterr().out


# ---- Programs of tool servers --------------------------------------------------------------------


def test_a_program_that_is_not_there_is_told_for_every_server_over_stdio(check_files, tmp_path):
    installed = tmp_path / "bin" / "here-mcp"
    installed.parent.mkdir()
    installed.touch(mode=0o755)
    tarsy = """\
defaults: {alert_type: host}
mcp_servers:
  away: {transport: {type: stdio, command: away-mcp}}
  here: {transport: {type: stdio, command: here-mcp}}
  own-path: {transport: {type: stdio, command: here-mcp, env: {PATH: /nowhere}}}
  by-path: {transport: {type: stdio, command: /nowhere/mcp}}
  secret: {transport: {type: stdio, command: "{{.WHICH}}"}}
  remote: {transport: {type: http, url: "http://127.0.0.1:9/mcp"}}
"""

    environ = {**ENVIRON, "PATH": str(installed.parent), "WHICH": "hunter2-mcp"}
    report = check_files(tarsy, environ=environ)

    missing = [each.message for each in report.warnings if "not installed" in each.message]
    assert missing == [
        "mcp_servers.away.transport.command: 'away-mcp' is not installed here; "
        "agents work without the tools of away",
        "mcp_servers.own-path.transport.command: 'here-mcp' is not installed here; "
        "agents work without the tools of own-path",
        "mcp_servers.by-path.transport.command: '/nowhere/mcp' is not installed here; "
        "agents work without the tools of by-path",
        "mcp_servers.secret.transport.command: this value is not installed here; "
        "agents work without the tools of secret",
    ]
    assert [each.message for each in report.notes if "kubernetes" in each.message] == [
        "kubernetes-server: 'kubernetes-mcp-server' is not installed here; "
        "agents work without the tools of kubernetes-server"
    ]


# ---- What runs without a person ------------------------------------------------------------------

AUTONOMOUS = """\
mcp_servers:
  fleet: {transport: {type: http, url: "http://127.0.0.1:9/mcp"}, tools: {TOOLS}}
agents: {Mender: {mcp_servers: [fleet, ops], control_level: LEVEL}}
agent_chains: {mend: {alert_types: [host], stages: [{name: mend, agents: [{name: Mender}]}]}}
defaults: {alert_type: host}
"""


@pytest.mark.parametrize(
    ("tools", "told"),
    [
        ("{list: read, scale: write}", "a person decides about every write of fleet"),
        (
            "{list: read, up: {repairs: true}, app: {argument: act, autonomous: [undo, stop]}}",
            "of fleet only this runs without a person, on targets that were looked up: "
            "app (undo, stop) and up;",
        ),
    ],
)
def test_what_autonomous_does_without_a_person_is_said_of_each_server(check_files, tools, told):
    text = AUTONOMOUS.replace("{TOOLS}", tools)

    autonomous = check_files(text.replace("LEVEL", "autonomous"))
    controlled = check_files(text.replace("LEVEL", "controlled"))

    notes = [each.message for each in autonomous.notes if "autonomous" in each.message]
    assert len(notes) == 2
    assert told in notes[0]
    assert "of ops only this runs" in notes[1]
    assert not any("autonomous" in each.message for each in controlled.notes)


# ---- Tools that nobody classed -------------------------------------------------------------------

REMOTE = """mcp_servers:
  metrics: {transport: {type: http, url: "http://metrics.example.org/mcp"}FIELDS}
"""


@pytest.mark.parametrize("kind", ["http", "sse"])
@pytest.mark.parametrize("fields", ["", ", trust_annotations: false", ", tools: {}"])
def test_a_remote_server_whose_tools_nobody_classed_is_warned_of(
    write, monkeypatch, capsys, kind, fields
):
    monkeypatch.setenv("ACME_KEY", "invented-key")
    text = _with_remote(fields, kind)
    directory = write({"tarsy.yaml": text, "llm-providers.yaml": PROVIDERS})

    call_command("check_config", config_dir=directory)

    (warning,) = _warnings_of("metrics", capsys.readouterr().out)
    assert "mcp_servers.metrics: this server is remote" in warning
    assert "under control_level read_only none of them is offered" in warning
    assert "`manage.py mcp_tools metrics --suggest`" in warning
    assert "`trust_annotations: true`" in warning


@pytest.mark.parametrize("fields", [", trust_annotations: true", ", tools: {look: read}"])
def test_a_server_whose_tools_have_classes_is_not(write, monkeypatch, capsys, fields):
    monkeypatch.setenv("ACME_KEY", "invented-key")
    text = _with_remote(fields)
    directory = write({"tarsy.yaml": text, "llm-providers.yaml": PROVIDERS})

    call_command("check_config", config_dir=directory)

    assert _warnings_of("metrics", capsys.readouterr().out) == []


def _warnings_of(server: str, printed: str) -> list[str]:
    place = f"mcp_servers.{server}"
    return [line for line in printed.splitlines() if "warning" in line and place in line]


def _with_remote(fields: str, kind: str = "http") -> str:
    remote = REMOTE.replace("FIELDS", fields).replace("http,", f"{kind},")
    return TARSY.replace("mcp_servers:\n", remote)


def test_which_alert_sources_are_open_and_to_whom_is_told(check_files):
    senders = """\
alert_senders:
  zabbix: {networks: [10.0.0.0/8]}
  nagios: {networks: [0.0.0.0/0]}
  github: {secret_envs: [HOOK]}
"""

    report = check_files(senders + TARSY, environ={**ENVIRON, "TARSY_AUTH": "none"})

    notes = [each.message for each in report.notes if "open" in each.message]
    assert notes == [
        "alert_senders.zabbix: open without a secret to this machine and 10.0.0.0/8",
        "alert_senders.nagios: open without a secret to this machine and 0.0.0.0/0",
        "every other alert source is open without a secret to this machine, for TARSY_AUTH is none",
    ]
    assert "anybody may send alerts" in "\n".join(map(str, report.warnings))
