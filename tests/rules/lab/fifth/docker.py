# ruff: noqa: E501  # a scene is told in one line
"""Containers."""

from tests.rules.lab.engine import Container, engine_of
from tests.rules.lab.scenes import Scene
from tests.rules.lab.third.docker import CACHE, DB, WEB, A, D

SCENES = (
    Scene(
        "its network was removed",
        A("ContainerDown", container="crm-api-1"),
        engine_of(
            DB,
            Container(
                "crm-api-1",
                "registry.acme.test/crm/api:4.1",
                "exited",
                255,
                error="network crm_backend not found: could not find a network matching network mode 7d1c0f8a2b: network 7d1c0f8a2b not found",
                started=90,
                ended=21,
                network="crm_backend",
                project="crm",
                log="2026-11-30 10:00:00 INFO serving at :8000\n2026-11-30 10:31:00 INFO received SIGTERM, shutting down",
            ),
        ),
        ("crm-api", "network"),
    ),
    Scene(
        "its port belongs to another container",
        A("ContainerDown", container="shop-edge-1"),
        engine_of(
            DB,
            WEB,
            Container(
                "shop-edge-1",
                "caddy:2.8",
                "created",
                128,
                error="driver failed programming external connectivity on endpoint shop-edge-1 (9be81c0f3b0a4b12): Bind for 0.0.0.0:80 failed: port is already allocated",
                started=-1,
                policy="always",
            ),
        ),
        ("shop-edge", "port|80"),
    ),
    Scene(
        "one that was killed last month and is not wanted any more",
        A("ContainerSlow", container="shop-web-1"),
        engine_of(
            DB,
            CACHE,
            WEB,
            Container(
                "loadtest-k6",
                "grafana/k6:0.54.0",
                "exited",
                137,
                policy="no",
                started=34 * D + 8,
                ended=34 * D,
                project="",
                log="running (0m07.1s), 50/50 VUs, 812 complete and 0 interrupted iterations",
            ),
        ),
    ),
)
