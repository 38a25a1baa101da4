"""The deployment files agree with the code: no container engine is needed to see that."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_part_of_the_product_is_a_service():
    expected = {"web", "ws", "nginx", "worker", "beat", "migrate", "postgres", "redis"}

    assert set(SERVICES) == expected


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


def test_only_nginx_is_reachable_from_outside_and_only_from_this_machine():
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}

    assert list(published) == ["nginx"]
    assert all(port.startswith("127.0.0.1:") for port in published["nginx"])


def test_nginx_sends_the_stream_to_daphne_and_drops_identity_headers_of_browsers():
    nginx = read("deploy/nginx.conf")

    stream = nginx[nginx.index("location /api/v1/ws") :]
    assert "http://ws:8000" in stream[: stream.index("}")]
    for header in ("X-Forwarded-User", "X-Forwarded-Email", "X-Remote-User"):
        assert f'proxy_set_header {header} "";' in nginx


def test_compose_uses_only_variables_that_the_example_explains():
    used = set(re.findall(r"\$\{(\w+)", read("docker-compose.yml")))

    assert used - documented_variables() == set()


def test_the_example_explains_every_variable_the_settings_read():
    pattern = r'env\.(?:text|integer|boolean|items|secret)\(\s*"(\w+)"'
    used = set(re.findall(pattern, read("tarsy/settings.py")))

    internal = {"TARSY_ROLE"}
    assert used - internal - documented_variables() == set()


def documented_variables() -> set[str]:
    return set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", read(".env.example"), flags=re.MULTILINE))
