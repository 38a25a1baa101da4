"""Reads after a write: a fourth set, and what the rules are known to get wrong."""

from tests.safety.gate.last_looks_cases import own_on
from tests.safety.gate.looks_cases import DOCKER, NO_POD, UNIT, Row, foreign, run

FOURTH_HONEST: list[Row] = [
    (
        "unit",
        run(
            "systemctl status payments --no-pager | head -n 5",
            "● payments.service - P\n   Loaded: loaded\n   Active: active (running)\n",
        ),
    ),
    (
        "unit",
        run(
            "systemctl show -p MainPID -p NRestarts payments.service", "MainPID=812\nNRestarts=0\n"
        ),
    ),
    ("unit", run("pgrep -c payments", "2\n")),
    ("unit", run("ps axo pid,stat,comm | grep payments", "812 Ssl payments\n")),
    (
        "unit",
        run(
            "ss -ltnp | grep payments",
            'LISTEN 0 128 0.0.0.0:8080 0.0.0.0:* users:(("payments",pid=812,fd=7))\n',
        ),
    ),
    (
        "unit",
        own_on(
            "query",
            {
                "id": UNIT,
                "kind": "service",
                "name": "payments",
                "status": "running",
                "executors": [],
            },
            action="config",
            resource_id="payments.service",
        ),
    ),
    (
        "process",
        run(
            "ps -fp 4711",
            "UID PID PPID C STIME TTY TIME CMD\nled 4711 1 0 10:00 ? 00:00:00 ledgerd\n",
        ),
    ),
    (
        "container",
        run(
            "docker ps -a --filter name=cart-api --format '{{.Names}}: {{.Status}}'",
            "cart-api: Up 5 seconds\n",
        ),
    ),
    (
        "container",
        run(
            "docker container stats --no-stream --format json cart-api",
            '{"Name":"cart-api","CPUPerc":"0.1%"}\n',
        ),
    ),
    (
        "container",
        run("docker inspect -f '{{.State.StartedAt}}' cart-api", "2026-11-29T10:00:00Z\n"),
    ),
    (
        "container by id",
        run(
            "docker ps --no-trunc | grep 3f9c0a1b2c3d",
            '3f9c0a1b2c3dffffffffffff cart:1 "run" 1 h ago Up 2 s cart\n',
        ),
    ),
    (
        "deployment",
        run(
            "kubectl get deploy/checkout -n shop -o yaml | grep readyReplicas",
            "  readyReplicas: 3\n",
        ),
    ),
    (
        "deployment",
        run(
            "kubectl describe deploy checkout -n shop | head -20",
            "Name: checkout\nNamespace: shop\n",
        ),
    ),
    (
        "deployment",
        own_on(
            "kubernetes",
            {
                "deployments": [
                    {
                        "id": "deployment:prod:shop/checkout",
                        "name": "checkout",
                        "status": "progressing",
                    }
                ]
            },
            type="deployments",
            namespace="shop",
            deployment="checkout",
        ),
    ),
    (
        "far deployment",
        foreign(
            "k8s.describe",
            "Name:      billing\nReplicas:  3 desired | 3 available\n",
            kind="deployment",
            name="billing",
        ),
    ),
    (
        "far file",
        run(
            "ls -l /srv/app/settings.ini", "-rw-r--r-- 1 a a 3 Nov 29 10:00 /srv/app/settings.ini\n"
        ),
    ),
    ("file", run("diff /etc/shop/app.conf /etc/shop/app.conf.bak", "1c1\n< a=1\n", 1)),
    ("far service", foreign("fleet.health", "healthy", service="billing")),
    (
        "far thing",
        foreign("fleet.get", {"name": "billing", "replicas": 0, "conditions": []}, name="billing"),
    ),
]
FOURTH_FALSE: list[Row] = [
    (
        "unit",
        run("systemctl list-unit-files | grep payments", "payments.service enabled enabled\n"),
    ),
    ("unit", run("grep -c payments /proc/net/unix", "2\n")),
    ("unit", run("cat /var/log/payments/current", "payments running\n")),
    ("unit", run("tail -n 3 /srv/payments/state", "active\n")),
    ("unit", run("ls -l /proc/812/exe", "lrwxrwxrwx /proc/812/exe -> /usr/bin/payments\n")),
    ("unit", run("dig +short payments", "10.0.0.3\n")),
    ("unit", run("systemctl status paymentsd", "● paymentsd.service - P\n Active: active\n")),
    ("unit", run("systemctl status mail | grep payments", "mail: relays payments active\n")),
    ("unit", run("lsof -i :8080", "COMMAND PID USER\nnginx 9 payments\n")),
    ("unit", run("systemctl is-active payments", "Failed to connect to bus: No such file\n", 1)),
    ("container", run("docker port cart-api", "", 1, "Error: No such container: cart-api\n")),
    ("container", run("docker ps | grep web", '3f9c cart-api "run" Up 3 seconds web\n')),
    (
        "container",
        own_on(
            "docker",
            {"containers": [{"id": "aa", "name": "web", "image": "cart-api", "state": "running"}]},
            action="list",
        ),
    ),
    (
        "deployment",
        run("kubectl describe pod checkout -n shop", "Name: checkout\nStatus: Running\n"),
    ),
    (
        "deployment",
        own_on(
            "kubernetes",
            {"pods": [{"id": "pod:prod:shop/checkout", "name": "checkout", "status": "Running"}]},
            type="pods",
            namespace="shop",
        ),
    ),
    ("deployment", run("kubectl config view -o json", '{"name": "checkout"}')),
    ("pod deleted", run("kubectl get pod checkout-7d9f-x2k -n test", "", 1, NO_POD)),
    (
        "far service",
        foreign(
            "fleet.get_service",
            "Error: service billing is not running on this cluster",
            service="billing",
        ),
    ),
    (
        "far service",
        foreign(
            "fleet.get_service",
            {"message": "service billing could not be found"},
            service="billing",
        ),
    ),
    ("far service", foreign("fleet.get_service", {"service": "billing"}, service="billing")),
    (
        "far deployment",
        foreign("k8s.get_service", {"type": "ClusterIP"}, service="billing", namespace="pay"),
    ),
    ("far file", run("ls -l /srv/app", "-rw-r--r-- 1 a a 3 Nov 29 settings.ini\n")),
    (
        "far file deleted",
        run("cat /srv/app/run.lock", "", 1, "cat: /srv/app/run.lock: Permission denied\n"),
    ),
]
NOT_REACHED: list[Row] = [
    ("unit", run("pgrep -fa payments", "812 /usr/bin/python3 /opt/payments/main.py\n")),
    ("process killed", run("pgrep -x ledgerd || true", "")),
    ("pod deleted", run("kubectl -n shop get pod checkout-7d9f-x2k --ignore-not-found", "")),
    ("far container removed", run("docker ps -a --filter name='^/cache$'", DOCKER)),
]
"""Looks that do not count."""
STILL_COUNTED: list[Row] = [
    ("unit", run("top -b -n 1 | head -5", "top - 10:00 payments\n")),
    ("unit", run("systemctl show payments | grep Description", "Description=Pays\n")),
]
"""Mentions that do."""
