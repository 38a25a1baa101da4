"""Reads after a write: a third set, by some of which the rules were mended as well."""

import json

from agents.types import JSON
from safety.evidence import SettledCall
from tests.safety.gate.looks_cases import (
    PODS,
    UNIT,
    Row,
    failing,
    foreign,
    own,
    run,
)


def own_on(tool: str, data: JSON, /, host: str = "edge-2", **arguments: JSON) -> SettledCall:
    """A call of our own server that runs on this machine."""
    told = {"ok": True, "data": data, "error": None, "meta": {"host": host}}
    return own(tool, json.dumps(told), **arguments)


LAST_HONEST: list[Row] = [
    (
        "unit",
        run(
            "for i in 1 2 3; do systemctl is-active payments; sleep 1; done",
            "active\nactive\nactive\n",
        ),
    ),
    ("unit", run("systemctl is-active payments.service mail.service", "active\ninactive\n", 3)),
    (
        "unit",
        run(
            "systemctl show payments | grep -E '^(ActiveState|SubState)='",
            "ActiveState=active\nSubState=running\n",
        ),
    ),
    (
        "unit",
        run(
            "systemctl --failed --no-legend | grep payments",
            "● payments.service loaded failed failed Payments\n",
        ),
    ),
    (
        "unit",
        own_on(
            "metrics",
            {"processes": [{"pid": 812, "name": "payments", "user": "pay", "state": "sleeping"}]},
            action="processes",
        ),
    ),
    (
        "unit",
        own_on(
            "query",
            {
                "query": "payments",
                "matches": [
                    {
                        "id": UNIT,
                        "kind": "service",
                        "name": "payments",
                        "status": "running",
                        "host": "edge-2",
                    }
                ],
                "total": 1,
            },
            action="search",
            query="payments",
        ),
    ),
    ("process", run("ps -o pid,stat,cmd -C ledgerd", " PID STAT CMD\n4711 Ss ledgerd\n")),
    ("process killed", run("ps -C ledgerd", "    PID TTY TIME CMD\n", 1)),
    (
        "container",
        run(
            "docker container ls -a --no-trunc | grep cart-api",
            'ffff cart:1 "run" 2 hours ago Up 3 seconds cart-api\n',
        ),
    ),
    (
        "container",
        run("docker inspect cart-api --format '{{json .State}}' | jq .Status", '"running"\n'),
    ),
    (
        "container",
        own_on(
            "docker",
            {"id": "3f9c0a1b2c3d", "name": "cart-api", "state": {"status": "running"}},
            action="inspect",
            container="cart-api",
        ),
    ),
    (
        "guest",
        run(
            "pct status 104 && pct config 104", "status: running\narch: amd64\n", place="host:pve-1"
        ),
    ),
    (
        "deployment",
        run("kubectl get deploy checkout -n shop --no-headers | awk '{print $2}'", "3/3\n"),
    ),
    (
        "deployment",
        run(
            "kubectl rollout status deployment/checkout --namespace shop --watch=false",
            'deployment "checkout" successfully rolled out\n',
        ),
    ),
    (
        "deployment",
        run(
            "kubectl get deployment -n shop -o json",
            '{"items":[{"kind":"Deployment","metadata":{"name":"checkout","namespace":"shop"}}]}',
        ),
    ),
    (
        "pod deleted",
        failing(
            "kubernetes",
            "NOT_FOUND",
            "no such pod",
            type="pods",
            namespace="shop",
            pod="checkout-7d9f-x2k",
        ),
    ),
    ("far deployment", run("oc get deployment/billing -n pay", "NAME READY\nbilling 3/3\n")),
    (
        "far service",
        foreign(
            "fleet.services",
            {"services": {"items": [{"service_name": "billing", "state": "running"}]}},
        ),
    ),
    ("far container", run("docker stats cache --no-stream --format '{{.CPUPerc}}'", "0.4%\n")),
    (
        "far container",
        foreign(
            "dock.ps",
            "CONTAINER ID   IMAGE   STATUS   NAMES\nabc   redis:7   Up 3 seconds   cache\n",
        ),
    ),
    ("far file", run("md5sum /srv/app/settings.ini | cut -d' ' -f1", "abcd\n")),
    (
        "far file deleted",
        foreign("box.stat", {"exists": False, "code": 404}, path="/srv/app/run.lock"),
    ),
]
LAST_FALSE: list[Row] = [
    (
        "unit",
        run(
            "systemctl is-active payments; journalctl -u payments -n 3 --no-pager",
            "active\npayments started\n",
        ),
    ),
    (
        "unit",
        run(
            "systemctl is-enabled payments 2>/dev/null || echo payments enabled",
            "payments enabled\n",
        ),
    ),
    ("unit", run("systemctl status payments | sed 's/.*/payments active/'", "payments active\n")),
    ("unit", run("jq -n '\"payments active\"'", '"payments active"\n')),
    ("unit", run("find /srv/payments -name '*.pid'", "/srv/payments/payments.pid\n")),
    ("unit", run("ps -u payments", "PID TTY TIME CMD\n900 ? 00:00 bash\n")),
    ("unit", run("ps aux | grep payments | grep -v payments", "")),
    ("unit", run("ss -tln", "LISTEN 0 128 10.0.0.3:80 *:*\n")),
    ("unit", run("systemctl is-active payments", "", 127, "sh: systemctl: not found\n")),
    ("unit", run("curl -s -m 2 http://payments:8080/health || true", "")),
    ("unit", run("docker top payments", "UID PID CMD\nroot 9 /payments\n")),
    (
        "unit",
        own_on(
            "metrics",
            {"processes": [{"pid": 812, "name": "payments"}]},
            host="edge-7",
            action="processes",
        ),
    ),
    (
        "unit",
        own_on(
            "read",
            {"files": [{"name": "payments", "path": "/srv/payments"}]},
            action="find",
            path="/srv",
        ),
    ),
    (
        "unit stopped",
        run("curl http://payments:8080/health", "", 7, "curl: (7) Failed to connect to payments\n"),
    ),
    ("unit stopped", run("pgrep payments | wc -l", "0\n")),
    ("process", run("ps -p 4712 -o pid,stat,comm", "PID STAT COMMAND\n4712 Ss other\n")),
    ("process killed", run("pgrep ledger", "", 1)),
    (
        "container",
        run("docker ps --filter name=cart-api-db --format '{{.Names}}'", "cart-api-db\n"),
    ),
    ("container", run("docker volume inspect cart-api", '[{"Name": "cart-api"}]\n')),
    ("container", run("docker network inspect cart-api", '[{"Name": "cart-api"}]\n')),
    (
        "container",
        run("docker inspect cart-api | head -1", "[]\n", 0, "Error: No such object: cart-api\n"),
    ),
    ("guest", run("pct status 1040", "status: running\n", place="host:pve-1")),
    ("guest", run("pct status 104", "status: running\n", place="host:pve-2")),
    ("deployment", run("kubectl get pods -n shop", PODS + "checkout-7d9f-x2k 1/1 Running 0 1d\n")),
    ("deployment", run("kubectl get hpa checkout -n shop", "NAME TARGETS\ncheckout 3%\n")),
    ("deployment", run("kubectl logs deploy/checkout -n shop --tail=5", "checkout ready\n")),
    (
        "deployment",
        run(
            "kubectl rollout status deploy/checkout -n shop --timeout=5s",
            "",
            1,
            "error: timed out waiting for the condition\n",
        ),
    ),
    (
        "pod deleted",
        failing(
            "kubernetes",
            "EXECUTION_FAILED",
            "connection refused",
            type="pods",
            namespace="shop",
            pod="checkout-7d9f-x2k",
        ),
    ),
    (
        "far deployment",
        foreign(
            "k8s.list_pods", {"pods": [{"name": "billing", "phase": "Running"}]}, namespace="pay"
        ),
    ),
    (
        "far service",
        foreign("fleet.get_service", {"service": "billing", "found": False}, service="billing"),
    ),
    ("far service", foreign("fleet.exec", "billing is running", command="echo billing is running")),
    ("far thing", foreign("fleet.get", {"detail": "billing does not exist"}, name="billing")),
    (
        "far file",
        run(
            "grep -c x /srv/app/settings.ini",
            "",
            2,
            "grep: /srv/app/settings.ini: No such file or directory\n",
        ),
    ),
    (
        "file",
        own_on(
            "read",
            {"path": "/etc/shop/app.conf", "content": "a"},
            host="edge-7",
            action="file",
            path="/etc/shop/app.conf",
        ),
    ),
]
