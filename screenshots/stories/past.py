"""Sessions that are over, as a list of a few days has them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

from agents.types import ExecutionStatus
from screenshots.story import Agent, Call, Story, Turn


def _agent(
    thinking: str,
    calls: list[Call],
    finding: str,
    end: ExecutionStatus | Literal[""] = "completed",
    error: str = "",
) -> Agent:
    turn = Turn(thinking=thinking, calls=calls, seconds=9)
    return Agent([turn], finding, end=end, error=error)


def _report(conclusion: str, evidence: str, step: str, confidence: str = "high") -> str:
    return (
        f"## Conclusion\n{conclusion} Confidence: {confidence}\n\n## Evidence\n1. {evidence}\n\n"
        f"## Next steps\n1. {step}\n\n## Not checked\n- Nothing.\n"
    )


def _over(
    alert_type: str,
    title: str,
    calls: list[Call],
    conclusion: str,
    evidence: str,
    step: str,
    *,
    ago: timedelta,
    author: str = "Alertmanager",
    confidence: str = "high",
) -> Story:
    """A session of one agent that found what was wrong."""
    report = _report(conclusion, evidence, step, confidence)
    first = _agent("What does the alert name, and how is it at this moment?", calls, report)
    alert: Mapping[str, str] = {"title": title, "alertname": alert_type}
    return Story(alert_type, alert, author, ago, stages=[[first], [Agent([], conclusion)]])


DISK = _over(
    "DiskPressure",
    "build-7: disk / 91 % full",
    [
        Call(
            "ops.storage",
            {"action": "usage", "resource_id": "host:build-7"},
            '{"/": "91 %"}',
            "disk",
        ),
        Call(
            "ops.storage",
            {"action": "largest", "path": "/var/lib/docker"},
            "212G  /var/lib/docker/overlay2\n",
            "usage",
            4.2,
        ),
    ],
    "Images of old builds fill the disk of build-7: 212G of them are referenced by nothing.",
    "212G lie in /var/lib/docker/overlay2 [usage] and / is 91 % full [disk].",
    "Prune images older than a week: `docker image prune -a --filter until=168h`",
    ago=timedelta(hours=1, minutes=12),
)
CERTIFICATE = _over(
    "CertificateExpiry",
    "shop.example.com: certificate expires in 3 days",
    [
        Call(
            "kubernetes.certificates_get",
            {"namespace": "shop", "name": "shop-tls"},
            "Ready: False\nReason: DoesNotExist\nnotAfter: in 71h\nlast renewal: failed, dns-01 "
            "challenge: NXDOMAIN _acme-challenge.shop.example.com\n",
            "certificate",
            0.5,
        ),
    ],
    "The certificate is not renewed because the DNS record of the ACME challenge is gone.",
    "The last renewal failed on NXDOMAIN of _acme-challenge.shop.example.com [certificate].",
    "Restore the record, then renew: `cmctl renew shop-tls -n shop`",
    ago=timedelta(hours=2, minutes=40),
    author="blackbox",
)
MEMORY = _over(
    "PodOOMKilled",
    "report-worker: container killed, out of memory",
    [
        Call(
            "kubernetes.events_list",
            {"namespace": "reports", "since": "1h"},
            "Warning  OOMKilling  pod/report-worker-6f7c-9dk2m\n",
            "events",
            0.38,
        ),
        Call(
            "kubernetes.pods_get",
            {"namespace": "reports", "name": "report-worker-6f7c-9dk2m"},
            "exitCode: 137\nlimits: {memory: 256Mi}\n",
            "pod",
            0.27,
        ),
    ],
    "report-worker needs more than its 256Mi for the monthly export and is killed each time.",
    "The container ended with 137 under a limit of 256Mi [pod], right after the export began "
    "[events].",
    "Raise the limit: `kubectl -n reports set resources deploy/report-worker --limits=memory=512Mi`",
    ago=timedelta(hours=5, minutes=3),
    confidence="medium",
)
FAILED = Story(
    "ServiceErrors",
    {"title": "ledger: 502 from /v2/entries", "namespace": "ledger"},
    "Alertmanager",
    timedelta(hours=3, minutes=21),
    stages=[
        [
            _agent(
                "Which pods answer 502?",
                [
                    Call(
                        "kubernetes.pods_get",
                        {"namespace": "ledger"},
                        "connection to https://mcp.example.com/kubernetes timed out after 30 s",
                        "pods",
                        30.0,
                        is_error=True,
                    ),
                ],
                "",
                "failed",
                "The model provider did not answer: gemini-3.1-pro-preview of gemini-3.1-pro "
                "returned 503 (overloaded) five times within 2 minutes.",
            ),
        ],
    ],
)
CANCELLED = Story(
    "HostTrouble",
    {"title": "cache-1: load average 48", "host": "cache-1"},
    "ben",
    timedelta(hours=4, minutes=9),
    stages=[
        [
            _agent(
                "Load first: what runs, what waits?",
                [
                    Call(
                        "ops.metrics",
                        {"action": "load", "resource_id": "host:cache-1"},
                        '{"load1": 48.2, "cpus": 8}',
                        "load",
                        0.21,
                    ),
                ],
                "",
                "",
            ),
        ],
    ],
    cancelled_by="ben",
)
QUIET = _over(
    "HostTrouble",
    "mail-2: 14,000 messages in the queue",
    [
        Call(
            "ops.read",
            {"action": "logs", "resource_id": "service:mail-2:postfix.service"},
            "deferred: connect to relay.example.net[192.0.2.25]:25: Connection timed out\n" * 3,
            "log",
            0.6,
        ),
    ],
    "The relay 192.0.2.25 has not accepted connections since 22:10, so mail waits.",
    "Each of the newest lines is a timeout of relay.example.net [log].",
    "Ask the network team about port 25 towards 192.0.2.25.",
    ago=timedelta(hours=9, minutes=30),
    author="ana",
    confidence="medium",
)
NODES = _over(
    "HostTrouble",
    "gateway: connection resets from zone b",
    [
        Call(
            "prometheus.query_range",
            {"query": "sum by (zone) (rate(tcp_resets_total[5m]))", "range": "3h"},
            "a 0.1/s\nb 41/s\nc 0.1/s\n",
            "resets",
            0.7,
        ),
    ],
    "Resets come from zone b alone and began when its NAT gateway was replaced.",
    "Zone b has 41 resets a second, the others 0.1 [resets].",
    "Roll the NAT gateway of zone b back.",
    ago=timedelta(hours=20, minutes=2),
    confidence="low",
)

ALL = (NODES, QUIET, MEMORY, CANCELLED, FAILED, CERTIFICATE, DISK)
"""The oldest first."""
