# ruff: noqa: E501  # a scene is told in one line
"""Containers."""

from tests.rules.lab.engine import Container, engine_of
from tests.rules.lab.scenes import Scene
from tests.rules.lab.third.docker import CACHE, DB, WEB, A, D

SCENES = (
    Scene(
        "a directory stands where its file should be",
        A("ContainerDown", container="edge-haproxy-1"),
        engine_of(
            WEB,
            Container(
                "edge-haproxy-1",
                "haproxy:3.0",
                "created",
                127,
                error='failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error mounting "/srv/edge/haproxy.cfg" to rootfs at "/usr/local/etc/haproxy/haproxy.cfg": mount src=/srv/edge/haproxy.cfg, dst=/usr/local/etc/haproxy/haproxy.cfg, dstFd=/proc/thread-self/fd/11, flags=MS_BIND|MS_REC: not a directory: unknown: Are you trying to mount a directory onto a file (or vice-versa)? Check if the specified host path exists and is the expected type',
                started=-1,
                project="edge",
                mounts=(("/srv/edge/haproxy.cfg", "/usr/local/etc/haproxy/haproxy.cfg"),),
            ),
        ),
        ("edge-haproxy", "mount|directory|haproxy.cfg"),
    ),
    Scene(
        "its check asks for a program that the image lacks",
        A("ContainerUnhealthy", container="crm-api-1"),
        engine_of(
            DB,
            Container(
                "crm-api-1",
                "registry.acme.test/crm/api:5.0",
                health="unhealthy",
                streak=212,
                started=55,
                project="crm",
                check='OCI runtime exec failed: exec failed: unable to start container process: exec: "curl": executable file not found in $PATH: unknown',
                log='10.9.0.3 - "GET /customers HTTP/1.1" 200\n10.9.0.4 - "GET /customers/7 HTTP/1.1" 200',
            ),
        ),
        ("crm-api", "curl|executable|check"),
    ),
    Scene(
        "nobody gave the password of its superuser",
        A("ContainerRestarting", container="wiki-db-1"),
        engine_of(
            Container(
                "wiki-db-1",
                "postgres:17.2",
                "restarting",
                1,
                restarts=41,
                started=0.5,
                ended=0.4,
                policy="always",
                project="wiki",
                log='Error: Database is uninitialized and superuser password is not specified.\n       You must specify POSTGRES_PASSWORD to a non-empty value for the\n       superuser. For example, "-e POSTGRES_PASSWORD=password" on "docker run".',
            ),
            WEB,
        ),
        ("wiki-db", "password"),
    ),
    Scene(
        "a migration has ended as it should",
        A("ContainerSlow", container="shop-web-1"),
        engine_of(
            DB,
            CACHE,
            WEB,
            Container(
                "shop-migrate-1",
                "registry.acme.test/shop/web:5.0.1",
                "exited",
                0,
                policy="no",
                started=2 * D + 1,
                ended=2 * D,
                log="Operations to perform:\n  Apply all migrations: orders\nRunning migrations:\n  Applying orders.0041_vat... OK",
            ),
        ),
    ),
)
