# ruff: noqa: E501  # a scene is told in one line
"""Containers."""

from tests.rules.lab.engine import Container, engine_of
from tests.rules.lab.scenes import Scene

DB = Container(
    "shop-db-1",
    "postgres:16.4",
    log="2026-11-30 10:00:00.000 UTC [1] LOG:  database system is ready to accept connections",
    health="healthy",
    check="/var/run/postgresql:5432 - accepting connections",
)


WEB = Container(
    "shop-web-1", "registry.acme.test/shop/web:5.0.1", ports=((80, 8080),), log="listening on :8080"
)


CACHE = Container(
    "shop-cache-1",
    "redis:7.4",
    log="1:M 24 Nov 2026 10:00:00.000 * Ready to accept connections tcp",
)


D = 60 * 24


def A(name: str, **more: str) -> dict[str, str]:
    return {"alertname": name, "job": "docker", "severity": "critical", **more}


SCENES = (
    Scene(
        "it is killed at its memory limit again and again",
        A("ContainerRestarting", container="shop-worker-1"),
        engine_of(
            DB,
            WEB,
            Container(
                "shop-worker-1",
                "registry.acme.test/shop/worker:5.0.1",
                "restarting",
                137,
                killed_for_memory=True,
                restarts=41,
                started=0.8,
                ended=0.1,
                memory=268435456,
                log="worker ready\nresizing 8000x6000 picture",
            ),
        ),
        ("worker", "memory|OOM"),
    ),
    Scene(
        "somebody else has its port",
        A("ContainerDown", container="shop-web-1"),
        engine_of(
            DB,
            Container(
                "shop-web-1",
                "registry.acme.test/shop/web:5.0.2",
                "created",
                128,
                error="failed to set up container networking: driver failed programming external connectivity on endpoint shop-web-1 (b1a2): Bind for 0.0.0.0:80 failed: port is already allocated",
                started=-1,
                ports=((80, 8080),),
            ),
            Container(
                "legacy-proxy", "nginx:1.27", ports=((80, 80),), project="legacy", started=22
            ),
        ),
        ("shop-web-1|80", "port|allocated|taken|use"),
    ),
    Scene(
        "a setting is missing",
        A("ContainerRestarting", container="shop-api-1"),
        engine_of(
            DB,
            Container(
                "shop-api-1",
                "registry.acme.test/shop/api:7.1.0",
                "restarting",
                1,
                restarts=18,
                started=0.5,
                ended=0.2,
                log="node:internal/process/promises:394\n      triggerUncaughtException(err, true /* fromPromise */);\nError: Missing required environment variable: JWT_PUBLIC_KEY\n    at loadConfig (/app/dist/config.js:31:11)\nNode.js v20.17.0",
            ),
        ),
        ("api", "JWT_PUBLIC_KEY|environment|setting|missing|configur"),
    ),
    Scene(
        "its volume may not be written",
        A("ContainerRestarting", container="grafana"),
        engine_of(
            Container(
                "grafana",
                "grafana/grafana:11.3.0",
                "restarting",
                1,
                restarts=25,
                started=0.4,
                ended=0.2,
                project="monitoring",
                mounts=(("/srv/grafana", "/var/lib/grafana"),),
                log="GF_PATHS_DATA='/var/lib/grafana' is not writable.\nYou may have issues with file permissions, more information here: http://docs.grafana.org/installation/docker/#migrate-to-v51-or-later\nmkdir: can't create directory '/var/lib/grafana/plugins': Permission denied",
            )
        ),
        ("grafana", "permission|writ|denied"),
    ),
    Scene(
        "a migration that ended well",
        A("ContainerSlow", container="shop-web-1"),
        engine_of(
            DB,
            WEB,
            CACHE,
            Container(
                "shop-migrate-1",
                "registry.acme.test/shop/web:5.0.1",
                "exited",
                0,
                policy="no",
                started=95,
                ended=94,
                log="migrations applied: 3",
            ),
        ),
    ),
    Scene(
        "a trial of somebody else was stopped",
        A("ContainerSlow", container="shop-web-1"),
        engine_of(
            DB,
            WEB,
            CACHE,
            Container(
                "trial_jupyter_1",
                "jupyter/base-notebook:latest",
                "exited",
                137,
                policy="no",
                started=9 * D,
                ended=6 * D,
                project="trial",
                log="[I 2026-11-24 ServerApp] Serving notebooks",
            ),
        ),
    ),
)
