"""What shows how the target of a write is, and what only gives back what it was asked."""

import json

import pytest

from safety.evidence import SettledCall
from safety.gate.looks import shows_state_of
from tests.safety.gate.calls import envelope, settled
from tests.safety.gate.looks_cases import own

NAME = "payments"
ID = "service:edge-2:payments"
CONTAINER = "container:edge-2:payments"
RUNS = "payments.service - Payments\n  Active: active (running)"


def ran(command: str, stdout: str = RUNS) -> SettledCall:
    told = envelope({"command": command, "exit_code": 0, "stdout": stdout, "stderr": ""})
    return own("read", told, action="exec", command=command)


@pytest.mark.parametrize(
    "command",
    [
        "echo payments", "printf '%s runs' payments", "echo payments is active; uptime",
        "true payments", "basename /x/payments", "seq 1 3", "date +payments",
        "ps -o comm=payments", "kubectl get pods -o jsonpath='{payments}'",
        "systemctl status x | sed s/.*/payments/", "jq -n '\"payments\"'", "cat x && echo payments",
        "git log --format=payments", "docker ps --format payments{{.ID}}",
    ],
)  # fmt: skip
def test_a_command_that_prints_its_own_words_shows_nothing(command):
    assert not shows_state_of(ran(command), (ID,))


@pytest.mark.parametrize(
    ("command", "stdout", "target"),
    [
        ("systemctl status payments", RUNS, ID),
        ("ps aux | grep payments", "root 812 0.1 /usr/bin/payments --serve", ID),
        (
            "kubectl get pods -n shop",
            "payments-0 1/1 Running\npayments 1/1 Running",
            "pod:prod:shop/payments",
        ),
        ("systemctl is-active payments; systemctl show payments", RUNS, ID),
        ("docker inspect payments", '"Name": "payments", "Running": true', CONTAINER),
        ("docker ps | grep payments", "3f shop:1 Up 2 seconds payments", CONTAINER),
        (
            "kubectl -n shop describe deployment payments",
            "Name: payments Ready 3",
            "deployment:prod:shop/payments",
        ),
        ("ss -tlnp", "LISTEN 0 128 *:80 users payments", ID),
        ("cat /proc/812/status", "Name: payments", ID),
        ("grep -n payments /etc/hosts", "3: 10.0.0.3 payments shop", "/etc/hosts"),
        ("ls -l /srv/payments", "drwxr-xr-x 2 root root 4096 bin", "/srv/payments"),
    ],
)
def test_a_command_that_looks_shows_what_it_found(command, stdout, target):
    assert shows_state_of(ran(command, stdout), (target,))


@pytest.mark.parametrize(
    ("command", "stdout"),
    [
        ("ls -l /srv", "drwxr-xr-x 2 root root 4096 payments"),
        ("grep -n payments /etc/hosts", "3: 10.0.0.3 payments shop"),
        ("docker inspect payments", '"Name": "payments", "Running": true'),
        ("docker ps | grep payments", "3f shop:1 Up 2 seconds payments"),
        ("kubectl get pods -n shop", "payments 1/1 Running"),
        ("kubectl -n shop describe deployment payments", "Name: payments Ready 3"),
    ],
)
def test_a_thing_of_another_kind_with_the_same_name_is_not_the_target(command, stdout):
    assert not shows_state_of(ran(command, stdout), (ID,))


@pytest.mark.parametrize(
    "command",
    [
        "journalctl -u payments", "journalctl -u payments | tail -n 3",
        "tail /var/log/payments.log", "cat /var/log/payments.log", "head /srv/payments/out",
        "grep payments /var/log/syslog", "cat nohup.out", "cat /proc/../var/log/payments.log",
        "docker logs payments", "docker compose logs payments", "kubectl -n shop logs payments",
        "kubectl get events -n shop", "supervisorctl tail payments", "helm history payments",
        "systemctl status payments; journalctl -u payments",
    ],
)  # fmt: skip
def test_a_command_that_reads_a_log_shows_nothing_of_now(command):
    assert not shows_state_of(ran(command), (ID,))


@pytest.mark.parametrize("stdout", ["", "payments", "inactive", "payments-2 is running"])
def test_a_look_that_found_nothing_of_the_target_shows_nothing(stdout):
    assert not shows_state_of(ran("systemctl status payments", stdout), (ID,))


@pytest.mark.parametrize(
    ("call", "shows"),
    [
        (own("query", envelope({"id": ID, "status": "running"}), resource_id=ID), True),
        (own("query", envelope({"matches": [{"name": NAME, "status": "up"}]})), True),
        (own("query", envelope({"matches": []}), query=NAME), False),
        (own("metrics", envelope({"cpu": 3, "note": f"as asked: {ID}"})), False),
        (own("read", envelope({"unit": NAME, "lines": "up"}), action="logs"), False),
        (own("docker", envelope({"name": NAME, "lines": "up"}), action="logs"), False),
        (own("kubernetes", envelope({"pod": NAME, "lines": "up"}), type="logs"), False),
        (own("kubernetes", envelope({"pod": NAME, "text": "up"}), type="events"), False),
        (own("query", "payments is fine", resource_id=ID), False),
        (settled("k8s.pod_logs", "read", "payments  started  Running", {"pod": "x"}), False),
        (settled("k8s.get", "read", "payments  1/1  Running", {"name": NAME}), True),
        (settled("k8s.get", "read", json.dumps({"replicas": 3}), {"name": NAME}), True),
        (settled("k8s.get", "read", json.dumps({"replicas": 3}), {"name": "web"}), False),
        (settled("k8s.get", "read", json.dumps({"error": "no"}), {"name": NAME}), False),
        (settled("k8s.say", "read", NAME, {"text": NAME}), False),
        (settled("k8s.say", "read", "payments is up", {"text": "payments is up"}), False),
        (settled("k8s.run", "read", RUNS, {"command": "echo payments Active"}), False),
    ],
)  # fmt: skip
def test_a_call_is_about_the_target_by_an_argument_or_a_row_of_its_answer(call, shows):
    assert shows_state_of(call, (NAME if not call.is_own_server else ID,)) is shows


def test_what_was_written_to_nothing_that_is_named_is_shown_by_nothing():
    assert not shows_state_of(ran("systemctl status payments"), ())
