"""Containers are known by what each runtime leaves behind, and hosts by having none of it."""

from pathlib import Path

import pytest

from config.container_detection import find_container

HEX = "0f" * 32


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


@pytest.mark.parametrize(
    ("name", "text", "runtime"),
    [
        (".dockerenv", "", "docker"),
        ("run/.containerenv", "", "podman"),
        ("run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"),
        ("proc/1/cgroup", f"0::/system.slice/docker-{HEX}.scope", "docker"),
        ("proc/1/cgroup", f"12:memory:/docker/{HEX}\n0::/", "docker"),
        ("proc/1/cgroup", f"0::/machine.slice/libpod-{HEX}.scope/container", "podman"),
        ("proc/1/cgroup", "0::/kubepods.slice/kubepods-pod1.slice/x.scope", "kubernetes"),
        ("proc/1/cgroup", "1:name=systemd:/kubepods/besteffort/pod1/2", "kubernetes"),
        ("proc/1/cgroup", "0::/lxc.payload.web/init.scope", "lxc"),
    ],
)
def test_a_container_is_known_by_what_its_runtime_leaves(
    tmp_path: Path, name: str, text: str, runtime: str
):
    write(tmp_path, name, text)

    container = find_container(tmp_path, {})

    assert container is not None
    assert container.runtime == runtime
    assert f"({runtime})" in container.explanation


@pytest.mark.parametrize(
    ("environ", "runtime"),
    [({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"), ({"container": "oci"}, "oci")],
)
def test_a_container_is_known_by_its_variables(tmp_path: Path, environ, runtime: str):
    container = find_container(tmp_path, environ)

    assert container is not None
    assert container.runtime == runtime


@pytest.mark.parametrize(
    "group",
    ["0::/init.scope", "0::/system.slice/docker.service", "0::/user.slice/user-1000.slice",
     "0::/system.slice/lxc.service", "1:name=systemd:/\n0::/", ""],
)  # fmt: skip
def test_a_host_is_no_container_although_it_runs_some(tmp_path: Path, group: str):
    write(tmp_path, "proc/1/cgroup", group)
    write(tmp_path, "run/docker.sock", "")

    assert find_container(tmp_path, {"container": "rm -rf /"}) is None
