# ruff: noqa: E501  # a scene is told in one line
"""Containers of one machine, other faults."""

from dataclasses import replace

from tests.rules.lab.engine import Container, engine_of
from tests.rules.lab.scenes import Scene

DB = Container(
    "app-db-1",
    "postgres:16",
    health="healthy",
    check="accepting connections",
    project="app",
    network="app_default",
)
CACHE = Container(
    "app-cache-1",
    "valkey:8",
    project="app",
    network="app_default",
    log="Ready to accept connections tcp",
)
OTHERS = (DB, CACHE)
API = Container(
    "app-api-1",
    "registry.example/app/api:2.8.0",
    project="app",
    network="app_default",
    ports=((8080, 8080),),
    log="GET /healthz 200",
)


def fails(log: str, code: int = 1, **more) -> Container:
    return replace(
        API, state="restarting", code=code, restarts=23, started=0.5, ended=0.4, log=log, **more
    )


def _alert(name: str, **labels: str) -> dict[str, str]:
    return {"alertname": name, "severity": "critical", "container": API.name, **labels}


SCENES = (
    Scene("the entry point may not be run", _alert("ContainerDown"),
          engine_of(replace(API, state="created", code=126, started=-1, error='failed to create task for container: OCI runtime create failed: runc create failed: unable to start container process: exec: "./entrypoint.sh": permission denied: unknown'), *OTHERS),
          ("app-api", "permission|entrypoint|may not|not start"), machine="docker-2"),
    Scene("the disk is full inside a container", _alert("ContainerRestarts"),
          engine_of(fails("starting\nOSError: [Errno 28] No space left on device: '/data/index.tmp'"), *OTHERS),
          ("app-api|disk|space", "space|full"), machine="docker-2"),
    Scene("what is to be mounted is not there", _alert("ContainerDown"),
          engine_of(replace(API, state="created", code=127, started=-1, error='failed to create task for container: failed to create shim task: OCI runtime create failed: error mounting "/srv/app/config.yaml" to rootfs at "/app/config.yaml": not a directory: unknown: Are you trying to mount a directory onto a file (or vice-versa)?', mounts=(("/srv/app/config.yaml", "/app/config.yaml"),)), *OTHERS),
          ("app-api", "mount|config\\.yaml"), machine="docker-2"),
    Scene("the check of health itself is wrong", _alert("ContainerUnhealthy"),
          engine_of(replace(API, health="unhealthy", streak=3000, check='OCI runtime exec failed: exec failed: unable to start container process: exec: "curl": executable file not found in $PATH: unknown', started=1600), *OTHERS),
          ("app-api", "curl|check|health"), machine="docker-2"),
    Scene("a segmentation fault", _alert("ContainerRestarts"),
          engine_of(fails("worker 1 started\nworker 2 started", 139), *OTHERS),
          ("app-api", "139|segmentation|crash|signal"), machine="docker-2"),
    Scene("it was stopped by hand", _alert("ContainerDown"),
          engine_of(replace(API, state="exited", code=0, started=900, ended=11, log="received SIGTERM\nshutting down\nbye"), *OTHERS),
          ("app-api", "stopped|ended|exit|not run"), machine="docker-2"),
    Scene("the cache is killed for memory and the service complains", _alert("ApiErrors"),
          engine_of(replace(API, log="ERROR redis.exceptions.ConnectionError: Error -2 connecting to cache:6379. Name or service not known.", health="unhealthy", streak=9, check="HTTP 500"),
                    replace(CACHE, state="exited", code=137, killed_for_memory=True, memory=67108864, started=500, ended=9, policy="no", log="Ready to accept connections tcp"), DB),
          ("app-cache", "memory"), machine="docker-2"),
    Scene("it is paused", _alert("ApiDoesNotAnswer"),
          engine_of(replace(API, state="paused", started=4000), *OTHERS),
          ("app-api", "paused"), machine="docker-2"),
    Scene("well: containers that have run for a month", _alert("ApiSlow"), engine_of(replace(API, started=43000, health="healthy"), *OTHERS), machine="docker-2"),
    Scene("well: it starts and its first check has not come", _alert("ApiSlow"), engine_of(replace(API, started=0.2, health="starting"), *OTHERS), machine="docker-2"),
    Scene("well: a backup container ended last night", _alert("ApiSlow"),
          engine_of(API, Container("app-backup-1", "restic:0.16", state="exited", code=0, policy="no", started=600, ended=588, project="app", log="snapshot saved"), *OTHERS), machine="docker-2"),
    Scene("well: words of errors in a healthy container", _alert("ApiSlow"),
          engine_of(replace(API, health="healthy", log="INFO errors=0 failed=0\nWARN connection refused once, retry worked\nINFO done"), *OTHERS), machine="docker-2"),
    Scene("well: an old one was left behind after an update", _alert("ApiSlow"),
          engine_of(API, replace(API, name="app-api-old", state="exited", code=137, policy="no", started=90000, ended=80000, ports=()), *OTHERS), machine="docker-2"),
)  # fmt: skip
