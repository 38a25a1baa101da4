"""The operator's file about other hosts and clusters."""

from pathlib import Path

import pytest

from ops.settings import read_settings
from ops.targets import Targets, read_targets
from safety.commands import prove
from tarsy.errors import ConfigError


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "ops.yaml"
    file.write_text(text)
    return file


def test_hosts_and_clusters_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = write(
        tmp_path,
        """
        hosts:
          db-1: {address: db-1.internal, user: ops, port: 2222, identity_file: /etc/tarsy/key}
          pve-1: {address: "fd00::5", proxmox: true, strict_host_keys: accept-new}
        clusters:
          prod: {context: "arn:aws:eks:eu:1:cluster/prod", kubeconfig: /etc/tarsy/kubeconfig}
        may_reach_out: true
        """,
    )
    monkeypatch.setenv("TARSY_OPS_CONFIG", str(file))

    targets = read_settings().targets

    assert [(host.name, host.access.address, host.is_proxmox) for host in targets.hosts] == [
        ("db-1", "db-1.internal", False),
        ("pve-1", "fd00::5", True),
    ]
    assert targets.hosts[0].access.strict_host_keys == "yes"
    assert targets.clusters[0].kubectl == (
        "kubectl",
        "--kubeconfig=/etc/tarsy/kubeconfig",
        "--context=arn:aws:eks:eu:1:cluster/prod",
    )
    assert targets.may_reach_out


def test_the_operator_lists_what_commands_may_fetch(tmp_path: Path):
    targets = read_targets(
        write(tmp_path, 'addresses: ["http://localhost:8080/orders/*/state?page"]')
    )

    assert prove("curl http://localhost:8080/orders/1/state", addresses=targets.addresses).may_run


def test_an_address_that_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"addresses\.0.*write http://HOST:PORT/path"):
        read_targets(write(tmp_path, 'addresses: ["/orders"]'))


def test_without_a_file_nothing_else_is_reached(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TARSY_OPS_CONFIG", raising=False)

    assert read_settings().targets == Targets()


def test_empty_file_is_no_mistake(tmp_path: Path):
    assert read_targets(write(tmp_path, "")) == Targets()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("hosts: {db: {address: -oProxyCommand=id}}", "hosts.db.address"),
        ("hosts: {db: {address: 'a b'}}", "hosts.db.address"),
        ("hosts: {db: {address: 'a\nb'}}", "hosts.db.address"),
        ("hosts: {-x: {address: a}}", "hosts"),
        ("hosts: {db: {address: a, user: -l}}", "hosts.db.user"),
        ("hosts: {db: {address: a, port: 0}}", "hosts.db.port"),
        ("hosts: {db: {address: a, strict_host_keys: 'no'}}", "hosts.db.strict_host_keys"),
        ("hosts: {db: {address: a, password: x}}", "hosts.db.password"),
        ("hosts: {db: {}}", "hosts.db.address"),
        ("clusters: {'a:b': {}}", "clusters"),
        ("clusters: {a: {context: --token=x}}", "clusters.a.context"),
        ("clusters: [a]", "clusters"),
        ("hosts: {", "cannot be read"),
        ("- a", ""),
    ],
)
def test_mistake_is_named_with_its_place(tmp_path: Path, text: str, place: str):
    with pytest.raises(ConfigError) as error:
        read_targets(write(tmp_path, text))

    assert place in str(error.value)
    assert "ops.yaml" in str(error.value)


def test_file_that_is_not_there_is_a_mistake(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_targets(tmp_path / "none.yaml")
