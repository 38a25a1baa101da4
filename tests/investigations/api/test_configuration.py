"""The configuration in force over REST: everything but its secrets."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import config
from config.schema.fields import parse_duration
from investigations.selectors.configuration.walk import format_duration
from tests.factories import UserFactory

URL = "/api/v1/system/config"
SECRET = "c4nary-Zx8Qw2Lm5Rt9Yb3Nc7Vd1Kf6Hs4Jg0Pa"
FILE = f"""
mcp_servers:
  remote:
    transport:
      type: http
      url: "https://user:{SECRET}@tools.example:8443/mcp?key={SECRET}#{SECRET}"
      bearer_token: "{SECRET}"
      custom_headers: {{X-Api-Key: "{SECRET}"}}
      session_cleanup_url: "https://tools.example/end?token={SECRET}"
  local:
    transport:
      type: stdio
      command: look
      args: ["--token", "{SECRET}"]
      env: {{LOOK_KEY: "{SECRET}"}}
agents:
  Alpha:
    description: Looks
    custom_instructions: "Log in with password={SECRET} and look."
agent_chains:
  single:
    alert_types: [single]
    stages: [{{name: look, agents: [{{name: Alpha}}]}}]
defaults: {{alert_type: single, llm_provider: rehearsal}}
queue: {{session_timeout: 90m}}
"""


def test_no_secret_is_told_and_what_names_a_thing_is(api, reconfigure):
    reconfigure(FILE)

    answer = api.get(URL)

    assert SECRET not in answer.content.decode()
    body = answer.json()
    assert set(body) == {
        "defaults", "queue", "system", "agents", "chains", "mcp_servers", "llm_providers", "skills",
    }  # fmt: skip
    remote = body["mcp_servers"]["remote"]["transport"]
    assert remote["url"] == "https://tools.example:8443/mcp"
    assert remote["session_cleanup_url"] == "https://tools.example/end"
    assert (remote["bearer_token_set"], remote["custom_header_keys"]) == (True, ["X-Api-Key"])
    local = body["mcp_servers"]["local"]["transport"]
    assert (local["command"], local["args"], local["env_keys"]) == ("look", ["***"], ["LOOK_KEY"])
    assert body["chains"]["single"]["stages"][0]["agents"][0]["name"] == "Alpha"
    assert body["queue"]["session_timeout"] == "1h30m"
    assert body["llm_providers"]["rehearsal"]["api_key_env"] is not None


@pytest.mark.parametrize("sign", ["/", "@", "#", "?"])
def test_no_part_of_a_password_in_an_address_is_told(api, reconfigure, sign):
    reconfigure(FILE.replace(f"user:{SECRET}@", f"user:Kq7Vx{sign}Zw9Pn@"))

    answer = api.get(URL)

    body = answer.content.decode()
    assert "Kq7Vx" not in body
    assert "Zw9Pn" not in body
    url = answer.json()["mcp_servers"]["remote"]["transport"]["url"]
    assert url.endswith("tools.example:8443/mcp")


def test_what_came_from_the_environment_is_not_told(api, reconfigure, monkeypatch, client):
    monkeypatch.setenv("LOOKING_PLACE", "plain-words-of-the-environment")
    told = FILE.replace("description: Looks", 'description: "Looks at {{.LOOKING_PLACE}}"')
    told = told.replace("{X-Api-Key:", '{"{{.LOOKING_PLACE}}":').replace(
        "env: {LOOK_KEY:", 'env: {"{{.LOOKING_PLACE}}":'
    )
    reconfigure(told.replace("command: look", 'command: "{{.LOOKING_PLACE}}"'))

    client.force_login(UserFactory())
    answer, page = api.get(URL), client.get("/system/")

    for each in (answer, page):
        assert "plain-words-of-the-environment" not in each.content.decode()
    assert answer.json()["agents"]["Alpha"]["description"] == "***"
    servers = answer.json()["mcp_servers"]
    assert servers["remote"]["transport"]["custom_header_keys"] == ["***"]
    assert servers["local"]["transport"]["env_keys"] == ["***"]


def test_everything_built_in_can_be_shown(api):
    assert api.get(URL).status_code == 200


def test_a_skill_is_told_with_its_body_and_an_unknown_one_is_not_found(api, tmp_path):
    for name in ("tarsy.yaml", "llm-providers.yaml"):
        (tmp_path / name).touch()
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "disks").write_text(
        f"---\nname: disks\ndescription: How disks fill up\n---\nLook at /var. api_key={SECRET}\n"
    )
    config.configure(tmp_path)

    skill = api.get(f"{URL}/skills/disks").json()
    listed = api.get(URL).json()["skills"]
    missing = api.get(f"{URL}/skills/nothing")
    config.configure(None)

    assert (skill["name"], skill["description"]) == ("disks", "How disks fill up")
    assert "Look at /var" in skill["body"]
    assert SECRET not in skill["body"]
    assert listed == {"disks": {"name": "disks", "description": "How disks fill up"}}
    assert missing.status_code == 404


@pytest.mark.parametrize("path", [URL, f"{URL}/skills/disks"])
def test_strangers_are_told_nothing(stranger, path: str):
    assert stranger.get(path).status_code == 401


@given(st.integers(min_value=0, max_value=10**12))
def test_durations_are_written_as_the_files_have_them(milliseconds: int):
    duration = timedelta(milliseconds=milliseconds)

    assert parse_duration(format_duration(duration)) == duration
