"""Reads after a write: those that look at what was written to, and those that only seem to.

A row is the write, by its name in `WRITES`, and the read that follows it.
"""

import json
from dataclasses import replace

from agents.types import JSON
from safety.evidence import SettledCall
from tests.safety.gate.calls import envelope, settled

Row = tuple[str, SettledCall]


def own(tool: str, text: str, /, **arguments: JSON) -> SettledCall:
    return replace(settled(f"ops.{tool}", "read", text, arguments), is_own_server=True)


def failing(tool: str, code: str, message: str, /, **arguments: JSON) -> SettledCall:
    error: JSON = {"code": code, "message": message, "blocked": False, "failed": True}
    told = json.dumps({"ok": False, "data": None, "error": error, "meta": {}})
    read = settled(f"ops.{tool}", "read", told, arguments, is_error=True)
    return replace(read, is_own_server=True)


def run(
    command: str, stdout: str = "", code: int = 0, stderr: str = "", place: str = ""
) -> SettledCall:
    """A command through our own server, on `edge-2` unless `place` is another id."""
    kind, _, rest = (place or "host:edge-2").partition(":")
    node, _, uid = rest.partition(":")
    where: JSON = {"resolved_kind": kind, "resolved_node": node, "target_id": uid or node}
    said: JSON = {
        "command": command, "exit_code": code, "stdout": stdout, "stderr": stderr,
        "timed_out": False, "execution": where,
    }  # fmt: skip
    asked = {"resource_id": place} if place else {}
    return own("read", envelope(said), action="exec", command=command, **asked)


def foreign(
    name: str, answer: JSON, /, *, is_error: bool = False, **arguments: JSON
) -> SettledCall:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return settled(name, "read", text, arguments, is_error=is_error)


def _own_write(tool: str, /, **arguments: JSON) -> SettledCall:
    call = settled(f"ops.{tool}", "write", envelope({"done": "done"}), arguments)
    return replace(call, is_own_server=True)


def _write(name: str, /, **arguments: JSON) -> SettledCall:
    return settled(name, "write", '{"done": true}', arguments)


UNIT = "service:edge-2:payments.service"
WRITES: dict[str, SettledCall] = {
    "unit": _own_write("control", type="service", action="reload", resource_id=UNIT),
    "unit stopped": _own_write("control", type="service", action="stop", resource_id=UNIT),
    "process": _own_write(
        "control", type="process", action="signal", resource_id="process:edge-2:ledgerd",
        pid=4711, signal="HUP",
    ),
    "process killed": _own_write(
        "control", type="process", action="kill", resource_id="process:edge-2:ledgerd", pid=4711
    ),
    "container": _own_write("docker", action="control", operation="restart", container="cart-api"),
    "container by id": _own_write(
        "control", type="container", action="restart", resource_id="container:edge-2:3f9c0a1b2c3d"
    ),
    "guest": _own_write("control", type="guest", action="reboot", resource_id="lxc:pve-1:104"),
    "deployment": _own_write(
        "kubernetes", type="restart", cluster="prod", namespace="shop", deployment="checkout"
    ),
    "pod deleted": _own_write(
        "kubernetes", type="delete_pod", cluster="prod", namespace="shop", pod="checkout-7d9f-x2k"
    ),
    "file": _own_write(
        "file_edit", action="write", path="/etc/shop/app.conf", resource_id="host:edge-2",
        content="a=1\n",
    ),
    "far service": _write("fleet.restart_service", service="billing"),
    "far thing": _write("fleet.restart", name="billing"),
    "far deployment": _write("k8s.restart_deployment", deployment="billing", namespace="pay"),
    "far pod deleted": _write("k8s.delete_pod", pod="billing-0", namespace="pay"),
    "far container": _write("dock.restart_container", container="cache"),
    "far container removed": _write("dock.remove_container", container="cache"),
    "far file": _write("box.write_file", path="/srv/app/settings.ini", content="x"),
    "far file deleted": _write("box.delete_file", path="/srv/app/run.lock"),
}  # fmt: skip

PS = "USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n"
UNITS = "  payments.service loaded active running Payments\n"
DOCKER = "CONTAINER ID   IMAGE      COMMAND   STATUS         NAMES\n"
PODS = "NAME                READY   STATUS    RESTARTS   AGE\n"
DEPLOYS = "NAME       READY   UP-TO-DATE   AVAILABLE   AGE\n"
NO_POD = 'Error from server (NotFound): pods "checkout-7d9f-x2k" not found\n'

HONEST: list[Row] = [
    # Services
    ("unit", run("systemctl is-active payments", "active\n")),
    ("unit", run("systemctl is-active payments.service", "failed\n", 3)),
    ("unit", run("systemctl show -p ActiveState,SubState payments", "ActiveState=active\n")),
    ("unit", run("systemctl show payments --property=MainPID --value", "812\n")),
    ("unit", run("systemctl --no-pager status payments | grep Active", "  Active: active\n")),
    ("unit", run("systemctl status payments.service --no-pager -n 0", "● payments.service - P\n")),
    ("unit", run("systemctl is-failed payments", "active\n", 1)),
    ("unit", run("systemctl list-units --type=service | grep payments", UNITS)),
    ("unit", run("systemctl list-units payments.service", UNITS)),
    ("unit", run("service payments status", "● payments.service - P\n Active: active\n")),
    ("unit", run("supervisorctl status payments", "payments RUNNING pid 812, uptime 0:01:02\n")),
    ("unit", run("ps aux | awk '/payments/'", PS
                 + "pay 812 0.1 0.2 9 9 ? Ssl 10:00 0:00 /usr/bin/payments -c x\n")),
    ("unit", run("ps -C payments -o pid,stat,etime", "PID STAT ELAPSED\n812 Ssl 00:12\n")),
    ("unit", run("ps -ef | grep '[p]ayments'", "pay 812 1 0 10:00 ? 0:00 /usr/bin/payments\n")),
    ("unit", run("pgrep -a payments", "812 /usr/bin/payments --serve\n")),
    ("unit", run("pgrep -x payments", "812\n")),
    ("unit", run("pidof payments", "812\n")),
    ("unit", run("ss -tlnp", 'LISTEN 0 128 *:80 *:* users:(("payments",pid=812,fd=6))\n')),
    ("unit", run("timeout 5 systemctl is-active payments", "active\n")),
    ("unit", run("date; systemctl is-active payments", "Sun Nov 29\nactive\n")),
    ("unit", run("systemctl is-active payments && systemctl show payments -p NRestarts",
                 "active\nNRestarts=0\n")),
    ("unit", own("query", envelope({"resources": [{"id": UNIT, "name": "payments",
                 "kind": "service", "status": "running"}]}), action="list", kind="service")),
    ("unit", own("query", envelope({"id": UNIT, "name": "payments", "kind": "service",
                 "status": "running", "config": {}}), action="config", resource_id=UNIT)),
    ("unit stopped", run("systemctl is-active payments", "inactive\n", 3)),
    ("unit stopped", run("pgrep -a payments", "", 1)),
    ("unit stopped", run("pidof payments", "", 1)),
    # Processes
    ("process", run("pgrep -a ledgerd", "4711 ledgerd --config x\n")),
    ("process", run("ps -p 4711 -o pid,stat,comm", "PID STAT COMMAND\n4711 Ss ledgerd\n")),
    ("process", run("cat /proc/4711/status", "Name:\tledgerd\nState:\tS (sleeping)\n")),
    ("process", run("top -b -n 1", "  PID USER COMMAND\n 4711 led ledgerd\n")),
    ("process", run("lsof -c ledgerd", "COMMAND PID USER\nledgerd 4711 led\n")),
    ("process killed", run("pgrep ledgerd", "", 1)),
    ("process killed", run("ps -p 4711", "  PID TTY TIME CMD\n", 1)),
    # Containers and guests
    ("container", run("docker ps --filter name=cart-api",
                      DOCKER + "3f9c cart:1 \"run\" Up 3 seconds cart-api\n")),
    ("container", run("docker ps -f 'name=^cart-api$' --format '{{.Status}}'", "Up 3 seconds\n")),
    ("container", run("docker inspect -f '{{.State.Status}}' cart-api", "running\n")),
    ("container", run("docker inspect cart-api | jq '.[0].State'", '{"Status": "running"}\n')),
    ("container", run("docker ps -a | grep cart-api", "3f9c cart:1 Up 3 seconds cart-api\n")),
    ("container", run("docker stats --no-stream cart-api", "NAME CPU\ncart-api 0.1%\n")),
    ("container", run("docker top cart-api", "UID PID CMD\nroot 99 /cart\n")),
    ("container", run("docker container inspect cart-api", '[{"Name": "/cart-api"}]\n')),
    ("container", own("docker", envelope({"containers": [{"id": "3f9c0a1b2c3d",
                      "name": "cart-api", "state": "running"}]}), action="list")),
    ("container by id", run("docker inspect 3f9c0a1b2c3d", '[{"Id": "3f9c0a1b2c3dffff"}]\n')),
    ("container by id", run("docker port 3f9c0a1b2c3d", "80/tcp -> 0.0.0.0:8080\n")),
    ("guest", run("pct status 104", "status: running\n", place="host:pve-1")),
    ("guest", run("pct list | grep 104", "104 running cart\n", place="host:pve-1")),
    # Clusters
    ("deployment", run("kubectl rollout status deploy/checkout -n shop --timeout=10s",
                       'deployment "checkout" successfully rolled out\n')),
    ("deployment", run("kubectl get deployment checkout -n shop -o json",
                       '{"metadata": {"name": "checkout"}}\n')),
    ("deployment", run("kubectl -n shop get deploy/checkout -o jsonpath={.status.readyReplicas}",
                       "3")),
    ("deployment", run("kubectl get deploy -A", DEPLOYS + "shop checkout 3/3 3 3 1d\n")),
    ("deployment", run("kubectl describe deployments.apps checkout --namespace shop",
                       "Name: checkout\nReplicas: 3 desired\n")),
    ("deployment", run("kubectl get deploy checkout -n shop -o json | jq .status.readyReplicas",
                       "3\n")),
    ("deployment", run("kubectl wait --for=condition=available deployment/checkout -n shop "
                       "--timeout=10s", "deployment.apps/checkout condition met\n")),
    ("deployment", own("kubernetes", envelope({"deployments": [{
        "id": "deployment:prod:shop/checkout", "name": "checkout", "namespace": "shop",
        "status": "available"}]}), type="deployments")),
    ("pod deleted", run("kubectl get pod checkout-7d9f-x2k -n shop", "", 1, NO_POD)),
    ("pod deleted", run("kubectl get pods -n shop | grep checkout-7d9f-x2k",
                        "checkout-7d9f-x2k 1/1 Terminating 0 1d\n")),
    ("far deployment", run("kubectl rollout status deployment billing -n pay --timeout=9s",
                           'deployment "billing" successfully rolled out\n')),
    ("far deployment", foreign("k8s.get_deployment", {"replicas": 3, "ready": 3},
                               deployment="billing", namespace="pay")),
    ("far deployment", foreign("k8s.get", {"kind": "Deployment", "metadata": {"name": "billing"},
                               "status": {"readyReplicas": 3}}, kind="deployment", name="billing")),
    ("far deployment", foreign("k8s.list_deployments", [{"name": "billing", "ready": "3/3"}],
                               namespace="pay")),
    ("far pod deleted", foreign("k8s.get_pod", {"error": {"code": 404, "reason": "NotFound",
                                "message": 'pods "billing-0" not found'}}, pod="billing-0")),
    # Other servers
    ("far service", foreign("fleet.get_service", {"status": "running"}, service="billing")),
    ("far service", foreign("fleet.get_status", {"active": True}, name="billing")),
    ("far service", foreign("fleet.list_services", [{"name": "billing", "status": "up"}])),
    ("far service", run("systemctl is-active billing", "active\n")),
    ("far thing", foreign("fleet.describe", "billing is running since 10:01", name="billing")),
    ("far thing", foreign("fleet.table", "NAME     STATE    AGE\nbilling  running  3s\n")),
    ("far container", run("docker inspect cache --format '{{.State.Health.Status}}'", "healthy\n")),
    ("far container", foreign("dock.inspect", {"State": {"Status": "running"}},
                              container="cache")),
    ("far container removed", run("docker inspect cache", "[]\n", 1,
                                  "Error: No such object: cache\n")),
    # Files
    ("file", run("cat /etc/shop/app.conf", "a=1\n")),
    ("file", run("sha256sum /etc/shop/app.conf", "ab12  /etc/shop/app.conf\n")),
    ("file", run("stat -c %y /etc/shop/app.conf", "2026-11-29 10:00\n")),
    ("file", run("grep -n a= /etc/shop/app.conf", "1:a=1\n")),
    ("file", own("read", envelope({"path": "/etc/shop/app.conf", "content": "a=1\n"}),
                 action="file", path="/etc/shop/app.conf")),
    ("far file", run("head -n 5 /srv/app/settings.ini", "x\n")),
    ("far file", foreign("box.read_file", "x=1", path="/srv/app/settings.ini")),
    ("far file deleted", run("ls /srv/app/run.lock", "", 2,
                             "ls: cannot access '/srv/app/run.lock': No such file or directory\n")),
    ("far file deleted", run("test -e /srv/app/run.lock", "", 1)),
]  # fmt: skip

NOTES = {"entries": [{"text": "payments was restarted", "resource_id": UNIT, "name": "payments"}]}
FALSE: list[Row] = [
    # Mentions
    ("unit", run("echo payments is active", "payments is active\n")),
    ("unit", run("printf 'payments.service running'", "payments.service running")),
    ("unit", run("ls /srv/payments", "bin conf payments data\n")),
    ("unit", run("ls -l /srv", "drwxr-xr-x 2 root root 4096 payments\n")),
    ("unit", run("ls /etc/systemd/system", "payments.service ssh.service\n")),
    ("unit", run("stat /usr/bin/payments", "File: /usr/bin/payments\nSize: 12\n")),
    ("unit", run("cat /etc/payments.conf", "name = payments active\n")),
    ("unit", run("grep -rn payments /etc/shop", "/etc/shop/a:1: payments active\n")),
    ("unit", run("cat /run/payments.pid", "812\n")),
    ("unit", run("du -sh /var/lib/payments", "4.0K /var/lib/payments\n")),
    ("unit", run("which payments", "/usr/bin/payments\n")),
    ("unit", run("dpkg -l payments", "ii payments 1.2 amd64 Payments\n")),
    ("unit", run("systemctl cat payments", "# /etc/systemd/system/payments.service\n[Unit]\n")),
    ("unit", run("journalctl -u payments -n 5 --no-pager", "systemd: Started payments\n")),
    ("unit", run("getent passwd payments", "payments:x:99:99::/srv/payments:/bin/sh\n")),
    ("unit", run("id payments", "uid=99(payments) gid=99(payments)\n")),
    ("unit", run("curl -s http://other:8080/health", "payments up", 0)),
    ("unit", run("curl -s http://localhost:9090/api/v1/query?query=payments", "payments 1")),
    # Others
    ("unit", run("systemctl is-active payments-worker", "active\n")),
    ("unit", run("systemctl status payments-worker", "payments-worker.service\n Active: ok\n")),
    ("unit", run("systemctl show -p Description mail", "Description=for payments now\n")),
    ("unit", run("systemctl status mail", "mail.service\n Before: payments.service\n")),
    ("unit", run("systemctl is-active payments.timer", "active\n")),
    ("unit", run("docker inspect payments", '[{"Name": "/payments", "State": {}}]\n')),
    ("unit", run("kubectl get pod payments", PODS + "payments 1/1 Running 0 1d\n")),
    ("unit", run("kubectl get configmap payments -o yaml", "name: payments\ndata: {}\n")),
    ("unit", run("systemctl is-active payments", "active\n", place="host:edge-9")),
    ("unit", run("systemctl status payments", "payments.service\n Active: active\n",
                 place="container:edge-2:3f9c0a1b2c3d")),
    ("unit", run("ps aux | grep payments", PS
                 + "root 99 0.0 0.0 9 9 pts/0 S+ 10:00 0:00 grep payments\n")),
    ("unit", run("ps aux", PS
                 + "mail 12 0.1 0.2 9 9 ? S 10:00 0:00 /usr/bin/mailer --for payments\n")),
    ("unit", run("pgrep -a mailer", "12 mailer payments\n")),
    ("unit", run("pgrep -v payments", "1\n2\n3\n")),
    # Failures
    ("unit", run("systemctl status payments", "", 4,
                 "Unit payments.service could not be found.\n")),
    ("unit", run("systemctl is-active payments", "", 1, "Failed to connect to bus\n")),
    ("unit", run("pgrep -a payments", "", 1)),
    ("unit", run("curl http://payments:8080/health", "", 7, "curl: (7) Failed to connect\n")),
    ("unit", run("systemctl status payments 2>&1 | head -3",
                 "Unit payments.service could not be found.\n")),
    ("unit", run("systemctl is-active payments; echo payments active", "payments active\n")),
    ("unit", run("systemctl is-active mail || echo payments active", "payments active\n")),
    ("unit stopped", run("systemctl is-active payments", "", 1, "Failed to connect to bus\n")),
    ("unit stopped", run("pgrep -a other", "", 1)),
    ("unit stopped", run("ls /srv/payments", "", 2, "ls: cannot access '/srv/payments'\n")),
    # Notes and records
    ("unit", own("knowledge", envelope(NOTES), action="recall", query="payments")),
    ("unit", own("knowledge", envelope(NOTES), action="incidents", resource_id=UNIT)),
    ("unit", own("alerts", envelope({"alerts": [{"name": "payments", "state": "up"}]}),
                 action="list")),
    ("unit", own("query", envelope({"query": "payments", "matches": [], "total": 0}),
                 action="search", query="payments")),
    ("unit", own("query", envelope({"resources": [{"id": "process:edge-9:payments", "name":
                 "payments", "kind": "process", "status": "running", "host": "edge-9"}]}),
                 action="list")),
    ("unit", own("docker", envelope({"name": "payments", "state": {"status": "running"}}),
                 action="inspect", container="payments")),
    ("unit", own("read", envelope({"unit": "payments", "lines": ["payments started"]}),
                 action="logs", unit="payments")),
    ("unit", own("storage", envelope({"entries": [{"path": "payments", "bytes": 3}]}),
                 action="largest", path="/srv")),
    ("unit", failing("query", "NOT_FOUND", f"There is no {UNIT}", action="get",
                     resource_id=UNIT)),
    # Containers and clusters
    ("container", run("docker inspect cart-api-db", '[{"Name": "/cart-api-db"}]\n')),
    ("container", run("docker image inspect cart-api", '[{"RepoTags": ["cart-api:1"]}]\n')),
    ("container", run("docker images cart-api", "REPOSITORY TAG\ncart-api 1\n")),
    ("container", run("docker ps --filter name=cart-api", DOCKER)),
    ("container", run("docker logs cart-api --tail 5", "cart-api ready\n")),
    ("container", run("docker inspect cart-api", "[]\n", 1, "Error: No such object: cart-api\n")),
    ("container", run("docker ps --format 'cart-api {{.ID}}'", "cart-api 3f9c\n")),
    ("container", run("docker inspect cart-api | wc -l", "1\n", 0,
                      "Error: No such object: cart-api\n")),
    ("container by id", run("docker inspect 3f9c0a1b2cff", '[{"Id": "3f9c0a1b2cff"}]\n')),
    ("container", run("docker ps", DOCKER + "3f9c cart-api:1 \"run\" Up 3 seconds web\n")),
    ("deployment", run("kubectl get deploy checkout -n test", DEPLOYS + "checkout 3/3 3 3 1d\n")),
    ("deployment", run("kubectl get svc checkout -n shop", "NAME TYPE\ncheckout ClusterIP\n")),
    ("deployment", run("kubectl get events -n shop", "Scaled deployment/checkout to 3\n")),
    ("deployment", run("kubectl get deploy checkout -n shop", "", 1,
                       'Error from server (NotFound): deployments.apps "checkout" not found\n')),
    ("deployment", run("kubectl rollout history deploy/checkout -n shop",
                       "deployment.apps/checkout\nREVISION 3\n")),
    ("deployment", run("kubectl get deploy checkout-worker -n shop", "checkout-worker 3/3\n")),
    ("deployment", run("kubectl get deploy web -n shop -o jsonpath='{.x}checkout'", "checkout")),
    ("pod deleted", run("kubectl get pod checkout-7d9f-x2k -n shop", "", 1,
                        "Unable to connect to the server: dial tcp: timeout\n")),
    ("pod deleted", run("kubectl get pod checkout-7d9f-abc -n shop", "", 1,
                        'Error from server (NotFound): pods "checkout-7d9f-abc" not found\n')),
    # Other servers
    ("far deployment", foreign("k8s.get_deployment", 'deployment "billing" not found',
                               deployment="billing")),
    ("far deployment", foreign("k8s.get_deployment", {"error": "deployment billing not found"},
                               deployment="billing")),
    ("far deployment", foreign("k8s.get_deployment", "Error from server (NotFound): "
                               'deployments.apps "billing" not found', name="billing")),
    ("far deployment", foreign("k8s.get_pod", {"phase": "Running"}, pod="billing")),
    ("far deployment", foreign("k8s.search", {"hits": []}, name="billing")),
    ("far deployment", foreign("k8s.get_deployment", {"replicas": 3}, deployment="billing-db")),
    ("far service", foreign("fleet.note", "billing was restarted by hand", text="restarted")),
    ("far service", foreign("other.get_service", {"status": "running"}, service="billing")),
    ("far service", foreign("fleet.echo", "billing", name="billing")),
    ("far service", foreign("fleet.get_service", {"ok": False, "service": "billing"},
                            service="billing")),
    ("far service", foreign("fleet.get_service", "service billing is unknown here",
                            service="billing")),
    ("far service", foreign("fleet.get_logs", "billing  started  Running", service="billing")),
    ("far service", foreign("fleet.get_service", {"status": "running"}, is_error=True,
                            service="billing")),
    ("far container removed", foreign("dock.inspect", "connection refused", is_error=True,
                                      container="cache")),
    ("far container removed", run("docker inspect cache", "", 1,
                                  "Cannot connect to the Docker daemon\n")),
    # Files
    ("file", run("cat /etc/shop/app.conf.bak", "a=1\n")),
    ("file", run("ls /etc", "shop app.conf\n")),
    ("file", run("cat /etc/shop/app.conf", "", 1,
                 "cat: /etc/shop/app.conf: No such file or directory\n")),
    ("file", run("cat /etc/shop/app.conf", "a=0\n", place="host:edge-9")),
    ("file", run("grep app.conf /etc/shop/main.conf", "include /etc/shop/app.conf\n")),
    ("far file", run("dirname /srv/app/settings.ini", "/srv/app\n")),
    ("far file", run("echo /srv/app/settings.ini", "/srv/app/settings.ini\n")),
    ("far file", foreign("box.read_file", "x=1", path="/srv/app/settings.ini.old")),
    ("far file deleted", run("ls /srv/app/run.lock", "", 2, "ls: cannot open: denied\n")),
    ("far file deleted", run("test -e /srv/app/run.log", "", 1)),
]  # fmt: skip
