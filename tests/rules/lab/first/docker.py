# ruff: noqa: E501  # a scene is told in one line
"""Containers of one machine."""

from tests.rules.lab.engine import Container, engine_of
from tests.rules.lab.scenes import Scene

DB = Container(
    "shop-db-1",
    "postgres:16",
    ports=((5432, 5432),),
    health="healthy",
    check="accepting connections",
)
CACHE = Container("shop-cache-1", "redis:7", log="Ready to accept connections tcp")
PROXY = Container("shop-proxy-1", "nginx:1.27", ports=((80, 80),))
OTHERS = (DB, CACHE, PROXY)
WEB = "shop-checkout-1"


def fails(log: str, code: int = 1, **more) -> Container:
    """One that is started again and again."""
    return Container(
        WEB, state="restarting", code=code, restarts=14, started=0.3, ended=0.2, log=log, **more
    )


def _alert(name: str, **labels: str) -> dict[str, str]:
    return {"alertname": name, "severity": "critical", "container": WEB, **labels}


SCENES = (
    Scene("a container is killed for memory", _alert("ContainerDown"),
          engine_of(Container(WEB, state="exited", code=137, killed_for_memory=True, memory=268435456, restarts=3, policy="on-failure", started=9, ended=6, log="loading the catalogue\ncaching 400000 products"), *OTHERS),
          ("checkout", "memory|oom"), machine="docker-1"),
    Scene("a variable is not set and it starts again and again", _alert("ContainerRestarts"),
          engine_of(fails("Traceback (most recent call last):\n  File \"/app/settings.py\", line 12, in <module>\n    SECRET = os.environ['PAYMENT_KEY']\nKeyError: 'PAYMENT_KEY'"), *OTHERS),
          ("checkout", "PAYMENT_KEY|restart|crash|again|exit"), machine="docker-1"),
    Scene("its check of health fails", _alert("ContainerUnhealthy"),
          engine_of(Container(WEB, health="unhealthy", streak=57, check="curl: (22) The requested URL returned error: 503", log="WARN pool exhausted: 20 of 20 connections in use", started=300), *OTHERS),
          ("checkout", "health|503|pool"), machine="docker-1"),
    Scene("its command is not there", _alert("ContainerDown"),
          engine_of(Container(WEB, state="created", code=127, started=-1, error="failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: \"/app/serve\": stat /app/serve: no such file or directory: unknown", command=("/app/serve",)), *OTHERS),
          ("checkout", "/app/serve|no such file|command|start"), machine="docker-1"),
    Scene("its port is taken", _alert("ContainerDown"),
          engine_of(Container(WEB, state="created", code=128, started=-1, error="driver failed programming external connectivity on endpoint shop-checkout-1 (5d1f): Bind for 0.0.0.0:80 failed: port is already allocated", ports=((80, 8080),)), *OTHERS),
          ("checkout", "port|80"), machine="docker-1"),
    Scene("the database it needs has ended", _alert("ContainerRestarts"),
          engine_of(fails("sqlalchemy.exc.OperationalError: could not translate host name \"db\" to address: Name or service not known"),
                    Container("shop-db-1", "postgres:16", state="exited", code=1, started=30, ended=29, policy="no", log="PostgreSQL Database directory appears to contain a database; Skipping initialization\nFATAL:  database files are incompatible with server\nDETAIL:  The data directory was initialized by PostgreSQL version 15, which is not compatible with this version 16.4."), CACHE, PROXY),
          ("shop-db|database",), machine="docker-1"),
    Scene("well: all containers run", _alert("CheckoutSlow"), engine_of(Container(WEB, health="healthy", check="ok"), *OTHERS), machine="docker-1"),
    Scene("well: a migration has ended as it should", _alert("CheckoutSlow"),
          engine_of(Container(WEB), Container("shop-migrate-1", state="exited", code=0, policy="no", started=8700, ended=8699, log="42 migrations applied"), *OTHERS), machine="docker-1"),
    Scene("well: a container of somebody else has failed", _alert("CheckoutSlow"),
          engine_of(Container(WEB), Container("lab-notebook-1", "jupyter:5", state="exited", code=1, policy="no", project="lab", started=50000, ended=49000, log="KeyboardInterrupt"), *OTHERS), machine="docker-1"),
    Scene("well: it was restarted three weeks ago", _alert("CheckoutSlow"),
          engine_of(Container(WEB, restarts=4, started=30240, ended=30241, log="GET /healthz 200"), *OTHERS), machine="docker-1"),
)  # fmt: skip
