# ruff: noqa: E501  # a scene is told in one line
"""Containers."""

from tests.rules.lab.engine import Container, engine_of
from tests.rules.lab.scenes import Scene
from tests.rules.lab.third.docker import CACHE, DB, WEB, A, D

SCENES = (
    Scene(
        "its program is not in the image",
        A("ContainerDown", container="shop-mailer-1"),
        engine_of(
            DB,
            WEB,
            Container(
                "shop-mailer-1",
                "registry.acme.test/shop/mailer:2.0",
                "created",
                127,
                error='failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "bundle": executable file not found in $PATH: unknown',
                started=-1,
            ),
        ),
        ("mailer", "executable|not found|program|command|bundle"),
    ),
    Scene(
        "its check finds the database away",
        A("ContainerUnhealthy", container="shop-web-1"),
        engine_of(
            Container(
                "shop-db-1",
                "postgres:16.4",
                "exited",
                1,
                started=30,
                ended=12,
                log="2026-11-30 10:00:00.000 UTC [1] PANIC:  could not locate a valid checkpoint record at 0/1B3C2F8\n2026-11-30 10:00:00.100 UTC [1] LOG:  startup process (PID 29) was terminated by signal 6: Aborted\n2026-11-30 10:00:00.120 UTC [1] LOG:  aborting startup due to startup process failure",
            ),
            Container(
                "shop-web-1",
                "registry.acme.test/shop/web:5.0.1",
                health="unhealthy",
                streak=31,
                check="curl: (22) The requested URL returned error: 503",
                log='ERROR: could not connect to server: Connection refused Is the server running on host "shop-db-1" (172.18.0.2) and accepting TCP/IP connections on port 5432?',
            ),
        ),
        ("shop-db-1|db", "checkpoint|PANIC|exit|stopped|ended|damage|not run"),
    ),
    Scene(
        "somebody paused it",
        A("ProbeFailed", container="shop-web-1", service="shop-web-1"),
        engine_of(
            DB,
            Container(
                "shop-web-1", "registry.acme.test/shop/web:5.0.1", "paused", ports=((80, 8080),)
            ),
        ),
        ("shop-web-1", "paus"),
    ),
    Scene(
        "it was stopped and stays so",
        A("ContainerDown", container="shop-cache-1"),
        engine_of(
            DB,
            WEB,
            Container(
                "shop-cache-1",
                "redis:7.4",
                "exited",
                0,
                policy="no",
                started=D,
                ended=14,
                log="1:signal-handler (1796000000) Received SIGTERM scheduling shutdown...\n1:M 30 Nov 2026 10:00:00.000 # User requested shutdown...\n1:M 30 Nov 2026 10:00:00.010 # Redis is now ready to exit, bye bye...",
            ),
        ),
        ("cache", "stopp|exit|not run|ended|shut"),
    ),
    Scene(
        "restarts of last month",
        A("ContainerSlow", container="shop-web-1"),
        engine_of(
            DB,
            CACHE,
            Container(
                "shop-web-1",
                "registry.acme.test/shop/web:5.0.1",
                restarts=6,
                started=31 * D,
                ended=31 * D + 1,
                ports=((80, 8080),),
                log="listening on :8080",
            ),
        ),
    ),
    Scene(
        "one has just begun and is not yet checked",
        A("ContainerSlow", container="shop-web-1"),
        engine_of(
            DB,
            WEB,
            Container("shop-cache-1", "redis:7.4", health="starting", started=0.3, check=""),
        ),
    ),
)
