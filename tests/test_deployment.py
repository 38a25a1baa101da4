"""The deployment files agree with the code: no container engine is needed to see that."""

import importlib.util
import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
import yaml

from config.check import check

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_part_of_the_product_is_a_service():
    expected = {"check", "web", "ws", "nginx", "worker", "beat", "migrate", "postgres", "redis"}
    started = {name for name, service in SERVICES.items() if "profiles" not in service}

    assert started == expected
    assert set(SERVICES) - started == {"oauth2-proxy"}


def test_services_wait_for_services_that_exist_and_are_healthy():
    for service in SERVICES.values():
        for name, wait in service.get("depends_on", {}).items():
            one_shot = SERVICES[name].get("restart") == "no"
            condition = "service_completed_successfully" if one_shot else "service_healthy"
            assert wait["condition"] == condition
            assert one_shot or "healthcheck" in SERVICES[name], name


def test_every_long_running_service_has_a_health_check():
    without = [
        name
        for name, service in SERVICES.items()
        if service.get("restart") != "no" and "healthcheck" not in service
    ]

    assert without == []


@pytest.mark.parametrize("name", ["web", "ws", "worker", "beat"])
def test_commands_name_modules_that_exist(name: str):
    modules = re.findall(r"\btarsy\.\w+", SERVICES[name]["command"])

    assert modules
    assert all(importlib.util.find_spec(module) for module in modules)


def test_named_volumes_are_declared_and_mounted_files_exist():
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("."):
                assert (ROOT / source).exists(), source
            else:
                assert source in COMPOSE["volumes"]


def test_only_what_people_come_in_by_is_reachable_and_only_from_this_machine():
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}

    assert list(published) == ["nginx", "oauth2-proxy"]
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)


def test_compose_uses_only_variables_that_the_example_explains():
    used = set(re.findall(r"\$\{(\w+)", read("docker-compose.yml")))

    assert used - documented_variables() == set()


def test_the_example_explains_every_variable_the_settings_read():
    readers = r"env\.(?:text|integer|boolean|items|secret|password)|read_proxies"
    pattern = rf'(?:{readers})\(\s*"(\w+)"'
    readers_of_settings = ("settings", "setting_readers", "lease_times")
    settings = "".join(read(f"tarsy/{name}.py") for name in readers_of_settings)
    used = set(re.findall(pattern, settings))

    internal = {"TARSY_ROLE"}
    assert used - internal - documented_variables() == set()


# ---- Which container gets which secret -----------------------------------------------------------

MODEL_KEYS = {
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "XAI_API_KEY",
    "SLACK_BOT_TOKEN",
    "OWN_KEY",
}
SECRETS = MODEL_KEYS | {"POSTGRES_PASSWORD", "SECRET_KEY", "TARSY_METRICS_TOKEN", "GITHUB_TOKEN"}
VARIABLE = re.compile(r"\$\{(\w+)(?::([-+?])([^}]*))?\}")
PAGES = {"POSTGRES_PASSWORD", "SECRET_KEY", "TARSY_METRICS_TOKEN", "GITHUB_TOKEN"}
GETS = {
    "check": SECRETS,
    "web": PAGES,
    "ws": PAGES,
    "worker": MODEL_KEYS | {"POSTGRES_PASSWORD", "GITHUB_TOKEN"},
    "migrate": {"POSTGRES_PASSWORD"},
    "postgres": {"POSTGRES_PASSWORD"},
    "beat": set(),
    "redis": set(),
    "nginx": set(),
}


def environment_of(service: str, files: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """As compose makes it: the files in order, over them what the service says itself."""
    described = SERVICES[service]
    listed = described.get("env_file", [])
    found: dict[str, str] = {}
    for each in [listed] if isinstance(listed, str) else listed:
        found |= files[each if isinstance(each, str) else each["path"]]
    for name, value in described.get("environment", {}).items():
        found[name] = VARIABLE.sub(partial(_fill, files[".env"]), value)
    return found


def _fill(values: Mapping[str, str], found: re.Match[str]) -> str:
    name, kind, word = found.groups()
    value = values.get(name, "")
    if kind == "+":
        return str(word) if value else ""
    return value or (str(word) if kind == "-" else "")


def secrets_everywhere() -> dict[str, dict[str, str]]:
    return {
        ".env": {name: f"secret-{name}" for name in SECRETS - {"OWN_KEY"}},
        "keys.env": {"OWN_KEY": "secret-OWN_KEY"},
    }


@pytest.mark.parametrize("service", sorted(GETS))
def test_a_container_gets_the_secrets_it_needs_and_no_other(service: str):
    environment = environment_of(service, secrets_everywhere())

    got = {name for name in SECRETS if f"secret-{name}" in " ".join(environment.values())}
    assert got == GETS[service]


def test_web_knows_the_model_that_answers_and_starts_without_any_key(tmp_path: Path):
    chain = (
        "{alert_types: [own], llm_provider: own, stages: [{name: a, agents: [{name: HostAgent}]}]}"
    )
    (tmp_path / "tarsy.yaml").write_text(
        f"agent_chains: {{own: {chain}}}\nsystem: {{slack: {{enabled: true, channel: C1}}}}\n"
    )
    (tmp_path / "llm-providers.yaml").write_text(
        "llm_providers: {own: {type: openai, model: m, api_key_env: OWN_KEY}}\n"
    )
    environments = {name: environment_of(name, secrets_everywhere()) for name in ("web", "worker")}

    configs = {name: check(tmp_path, each) for name, each in environments.items()}

    assert [report.mistakes for report in configs.values()] == [(), ()]
    providers = {
        report.config.defaults.llm_provider for report in configs.values() if report.config
    }
    assert providers == {"google-default"}


def test_a_worker_without_a_key_that_is_needed_does_not_start(tmp_path: Path):
    (tmp_path / "tarsy.yaml").write_text("defaults: {llm_provider: google-default}\n")
    (tmp_path / "llm-providers.yaml").write_text("{}\n")
    nothing = {".env": {}, "keys.env": {}}

    reports = {
        name: check(tmp_path, environment_of(name, nothing)) for name in ("check", "worker", "web")
    }

    wrong = {name for name, report in reports.items() if report.mistakes}
    assert wrong == {"check", "worker"}


def test_nothing_keeps_data_before_the_settings_were_checked():
    for name in ("postgres", "redis"):
        assert SERVICES[name]["depends_on"]["check"]["condition"] == (
            "service_completed_successfully"
        )
    assert SERVICES["check"]["command"] == "python manage.py check_config"


def test_the_image_has_the_program_of_every_built_in_server():
    builtin = yaml.safe_load(read("config/builtin.yaml"))["mcp_servers"].values()
    transports = [server["transport"] for server in builtin]
    programs = {each["command"] for each in transports if each["type"] == "stdio"}
    tools = json.loads(read("deploy/tools/package.json"))["optionalDependencies"]
    locked = json.loads(read("deploy/tools/package-lock.json"))["packages"]

    assert programs == {"kubernetes-mcp-server"}
    assert all(f"bin/{program}" in read("Dockerfile") for program in programs)
    assert {name: locked[f"node_modules/{name}"]["version"] for name in tools} == tools
    assert all(locked[f"node_modules/{name}"]["integrity"] for name in tools)


def documented_variables() -> set[str]:
    return set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", read(".env.example"), flags=re.MULTILINE))
