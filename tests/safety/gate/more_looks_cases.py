"""More reads after a write. The rules were mended by some of them."""

from tests.safety.gate.calls import envelope
from tests.safety.gate.looks_cases import (
    DEPLOYS,
    DOCKER,
    NO_POD,
    PS,
    Row,
    foreign,
    own,
    run,
)

MORE_HONEST: list[Row] = [
    ("unit", run("systemctl --quiet is-active payments.service", "", 0)),
    (
        "unit",
        run(
            "nice -n 5 systemctl show --property ActiveState --property SubState payments.service",
            "ActiveState=active\nSubState=running\n",
        ),
    ),
    (
        "unit",
        run(
            "ps -eo pid,etime,cmd | grep payments",
            " 812 00:13 /usr/local/bin/payments --serve\n 990 00:00 grep payments\n",
        ),
    ),
    (
        "unit",
        run(
            "systemctl list-units --state=running --no-legend | sort | grep payments",
            "payments.service loaded active running Payments API\n",
        ),
    ),
    ("unit", run("sleep 2; systemctl is-active payments", "active\n")),
    (
        "unit",
        run(
            "systemctl status payments || true",
            "● payments.service - P\n  Active: active (running)\n",
            0,
        ),
    ),
    (
        "unit stopped",
        run(
            "systemctl status payments.service",
            "○ payments.service - P\n Active: inactive (dead)\n",
            3,
        ),
    ),
    ("unit stopped", run("systemctl is-active payments || true", "inactive\n")),
    (
        "process",
        run(
            "ps aux | sort -rn | head -20",
            PS + "led 4711 0.1 0.1 9 9 ? S 10:00 0:00 ledgerd -c /etc/l.conf\n",
        ),
    ),
    ("process killed", run("pidof ledgerd", "", 1)),
    (
        "container",
        run("docker compose ps cart-api", "NAME IMAGE SERVICE\ncart-api cart:1 cart-api\n"),
    ),
    (
        "container",
        run(
            "podman ps --all --filter name=cart-api --format json",
            '[{"Names": ["cart-api"], "State": "running"}]\n',
        ),
    ),
    (
        "container",
        run(
            "docker ps --format '{{.Names}} {{.Status}}' | grep cart-api", "cart-api Up 4 seconds\n"
        ),
    ),
    (
        "container by id",
        own(
            "docker",
            envelope({"id": "3f9c0a1b2c3d", "name": "cart-api", "state": {"Status": "running"}}),
            action="inspect",
            container="3f9c0a1b2c3d",
        ),
    ),
    (
        "deployment",
        run(
            "kubectl get deployments.v1.apps/checkout --namespace=shop -o wide",
            DEPLOYS + "checkout 3/3 3 3 1d\n",
        ),
    ),
    (
        "deployment",
        run("kubectl -n shop get deploy", DEPLOYS + "checkout 3/3 3 3 1d\nweb 1/1 1 1 1d\n"),
    ),
    (
        "pod deleted",
        own(
            "kubernetes",
            envelope(
                {
                    "pods": [
                        {
                            "id": "pod:prod:shop/checkout-7d9f-x2k",
                            "name": "checkout-7d9f-x2k",
                            "namespace": "shop",
                            "status": "Terminating",
                        }
                    ]
                }
            ),
            type="pods",
            namespace="shop",
        ),
    ),
    ("pod deleted", run("kubectl get po/checkout-7d9f-x2k -n shop -o name", "", 1, NO_POD)),
    (
        "far deployment",
        foreign(
            "k8s.rollout_status",
            "deployment billing: 3/3 replicas ready",
            deployment="billing",
            namespace="pay",
        ),
    ),
    (
        "far thing",
        foreign(
            "fleet.get", {"data": {"service": {"name": "billing", "health": "ok"}}}, id="billing"
        ),
    ),
    (
        "far container removed",
        foreign("dock.inspect", {"status": 404, "message": "No such container"}, container="cache"),
    ),
    ("far file", run("tail -n 3 /srv/app/settings.ini | head -1", "x=1\n")),
    (
        "far file deleted",
        run(
            "stat /srv/app/run.lock",
            "",
            1,
            "stat: cannot statx '/srv/app/run.lock': No such file or directory\n",
        ),
    ),
    (
        "guest",
        own(
            "metrics", envelope({"cpu_percent": 3.1}), action="summary", resource_id="lxc:pve-1:104"
        ),
    ),
]
MORE_FALSE: list[Row] = [
    ("unit", run("systemctl list-timers", "payments.timer payments.service n/a\n")),
    ("unit", run("systemctl list-dependencies payments", "payments.service\n● ├─network.target\n")),
    ("unit", run("systemctl show mail -p After", "After=payments.service\n")),
    (
        "unit",
        run(
            "readlink -f /etc/systemd/system/payments.service",
            "/lib/systemd/system/payments.service\n",
        ),
    ),
    ("unit", run("find /etc -name payments.service", "/etc/systemd/system/payments.service\n")),
    ("unit", run("ps -C mailer -o pid,args", "PID COMMAND\n12 mailer payments\n")),
    ("unit", run("pgrep -a payments", "812 /usr/bin/payments-worker\n")),
    (
        "unit",
        run(
            "docker ps --filter name=payments", DOCKER + '3f9c pay:1 "run" Up 3 seconds payments\n'
        ),
    ),
    ("unit", run("date; echo payments", "Sun\npayments\n")),
    (
        "unit",
        run(
            "systemctl is-active payments | grep -c active", "0\n", 1, "Failed to connect to bus\n"
        ),
    ),
    (
        "unit",
        run(
            "systemctl status payments | wc -l",
            "0\n",
            0,
            "Unit payments.service could not be found.\n",
        ),
    ),
    ("unit", run("curl -s http://payments-db:5432/health", "payments ok")),
    ("unit stopped", run("pgrep -a payments", "", 3, "pgrep: out of memory\n")),
    ("unit", run("helm status payments", "NAME: payments\nSTATUS: deployed\n")),
    ("unit", run("getent hosts payments", "10.0.0.3 payments\n")),
    (
        "container",
        run(
            "docker ps -a --filter ancestor=cart-api",
            DOCKER + '3f9c cart-api "run" Up 3 seconds web\n',
        ),
    ),
    ("container", run("docker inspect --type image cart-api", '[{"Id": "sha256:1"}]\n')),
    ("container", run("docker compose logs cart-api", "cart-api | ready\n")),
    ("container", run("echo cart-api; docker ps", "cart-api x\n" + DOCKER)),
    (
        "container",
        run(
            "docker inspect -f '{{.State.Status}}' cart-api 2>&1 | head -1",
            "Error: No such object: cart-api\n",
        ),
    ),
    ("deployment", run("kubectl get rs checkout -n shop", "NAME DESIRED\ncheckout 3\n")),
    ("deployment", run("kubectl get deploy -A", DEPLOYS + "test checkout 3/3 3 3 1d\n")),
    ("deployment", run("kubectl get deploy checkout -n shop --ignore-not-found", "")),
    (
        "deployment",
        own(
            "kubernetes",
            envelope(
                {
                    "deployments": [
                        {
                            "id": "deployment:prod:test/checkout",
                            "name": "checkout",
                            "namespace": "test",
                            "status": "available",
                        }
                    ]
                }
            ),
            type="deployments",
        ),
    ),
    ("deployment", run("kubectl explain deployment", "KIND: Deployment checkout\n")),
    (
        "far deployment",
        foreign(
            "k8s.get_deployment",
            {"replicas": 3},
            deployment="billing",
            cluster="x",
            namespace="other",
        ),
    ),
    (
        "far deployment",
        foreign(
            "k8s.get_deployment",
            {"status": 404, "message": "deployment billing not found"},
            deployment="billing",
        ),
    ),
    ("far service", foreign("fleet.get_service", "No service named billing", service="billing")),
    (
        "far service",
        foreign("fleet.search", "Found 3 documents that mention billing", query="billing"),
    ),
    (
        "far service",
        own(
            "knowledge",
            envelope({"entries": [{"name": "billing", "service": "billing"}]}),
            action="recall",
            service="billing",
        ),
    ),
    ("far file", foreign("box.read_file", "Error: cannot open file", path="/srv/app/settings.ini")),
    ("file", run("sha256sum /etc/shop/other.conf", "ab /etc/shop/other.conf /etc/shop/app.conf\n")),
]
