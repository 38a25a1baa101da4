"""Two agents that want to change something: one restart, and one edit of a file."""

from datetime import timedelta

from mcp_bridge.safety.file_changes import FileChange
from screenshots.story import Agent, Call, Request, Story, Turn

_FIND_EXPORTER = Agent(
    turns=[
        Turn(
            thinking="Find the unit first, then its state and the end of its log.",
            calls=[
                Call(
                    "ops.query",
                    {"kind": "services", "host": "web-3", "name": "nginx"},
                    '{"id": "service:web-3:nginx.service", "status": "failed", "since": "08:51:40"}',
                    "unit",
                    0.22,
                ),
                Call(
                    "ops.logs",
                    {"target": "service:web-3:nginx.service", "lines": 40},
                    "08:51:40 nginx[812]: bind() to 0.0.0.0:443 failed (98: Address already in use)\n"
                    "08:51:40 systemd: nginx.service: Failed with result 'exit-code'.\n"
                    "08:52:10 haproxy[799]: stopped, port 443 released\n",
                    "log",
                    0.34,
                ),
            ],
            seconds=9,
        ),
    ],
    finding="nginx on web-3 has failed since 08:51 [unit], because port 443 was taken by haproxy, "
    "which has released it since [log].",
)
_RESTART = Agent(
    turns=[
        Turn(
            thinking="The port is free again, so one restart is enough. Nothing speaks against it.",
            text="Port 443 is free again [log]. One restart of nginx.service on web-3 brings the "
            "host back into the pool.",
            calls=[
                Call(
                    "ops.control",
                    {
                        "action": "restart",
                        "target": "service:web-3:nginx.service",
                        "reason": "nginx failed at 08:51 because haproxy held port 443; it is free "
                        "again since 08:52. One restart brings web-3 back into the pool.",
                    },
                    request=Request(
                        "service:web-3:nginx.service",
                        "medium",
                        "failed",
                        "A restart cannot be taken back; what was in memory is lost.",
                        "TARSy reads the state of service:web-3:nginx.service; it has to be active.",
                        "the control level is controlled: a person decides about each write",
                    ),
                ),
            ],
            seconds=8,
        ),
    ],
    end="",
)

RESTART = Story(
    "ServiceDown",
    {
        "title": "web-3: nginx.service is down",
        "alertname": "SystemdUnitFailed",
        "host": "web-3",
        "unit": "nginx.service",
        "severity": "warning",
    },
    "Alertmanager",
    timedelta(seconds=90),
    clock="08:54",
    is_live=True,
    stages=[[_FIND_EXPORTER], [_RESTART]],
)

_BEFORE = """\
# Rotates what the shop writes. Managed by hand.
/var/log/shop/*.log {
    weekly
    rotate 52
    missingok
    notifempty
    copytruncate
}
"""
_AFTER = """\
# Rotates what the shop writes. Managed by hand.
/var/log/shop/*.log {
    daily
    maxsize 500M
    rotate 14
    compress
    delaycompress
    missingok
    notifempty
    copytruncate
}
"""
_PATH = "/etc/cron.d/shop-logrotate"
_FIND_DISK = Agent(
    turns=[
        Turn(
            thinking="Which file system, and what takes the space? Then how it is rotated.",
            calls=[
                Call(
                    "ops.metrics",
                    {"target": "host:db-2", "what": "disks"},
                    '{"/": "41 %", "/var": "97 %", "/var.free_bytes": 1288490188}',
                    "disk",
                    0.19,
                ),
                Call(
                    "ops.files",
                    {"action": "usage", "path": "/var/log", "target": "host:db-2"},
                    "38.2G  /var/log/shop\n 1.1G  /var/log/journal\n",
                    "usage",
                    1.61,
                ),
                Call(
                    "ops.files",
                    {"action": "read", "path": _PATH, "target": "host:db-2"},
                    _BEFORE,
                    "rules",
                    0.12,
                ),
            ],
            seconds=10,
        ),
    ],
    finding="/var of db-2 is 97 % full [disk]; 38.2G of it are logs of the shop [usage], which "
    "are kept for 52 weeks and never compressed [rules].",
)
_EDIT = Agent(
    turns=[
        Turn(
            thinking="Rotation daily with a size limit and compression keeps two weeks in about "
            "3 GB. The file is the right place; the next run applies it.",
            text="The logs are rotated weekly and kept for a year [rules]. I ask to rotate daily, "
            "at 500M, compressed, and to keep two weeks.",
            calls=[
                Call(
                    "ops.files",
                    {
                        "action": "write",
                        "path": _PATH,
                        "target": "host:db-2",
                        "content": _AFTER,
                        "expected_sha256": "5b0e9d0f6c1c7f0b8c5a1d9e6a4f3b2c1d0e9f8a7b6c5d4e3f2a1b0c9d8e7f60",
                    },
                    request=Request(
                        f"file:db-2:{_PATH}",
                        "high",
                        "",
                        "Write the former content back. Nothing keeps it but what this change "
                        "shows of it.",
                        "TARSy reads the file again; it has to have exactly this content.",
                        "the control level is controlled: a person decides about each write",
                        change=FileChange(
                            _PATH,
                            _PATH,
                            _BEFORE,
                            _AFTER,
                            {
                                "size_bytes": len(_BEFORE),
                                "encoding": "utf-8",
                                "line_ends": "lf",
                                "owner": "root",
                                "group": "root",
                                "mode": "644",
                                "modified": "2025-03-02T11:20:44Z",
                            },
                            len(_AFTER),
                        ),
                    ),
                ),
            ],
            seconds=11,
        ),
    ],
    end="",
)

EDIT = Story(
    "ServiceDown",
    {
        "title": "db-2: disk /var 97 % full",
        "alertname": "DiskWillFillIn4h",
        "host": "db-2",
        "mount": "/var",
        "severity": "critical",
        "value": "97",
    },
    "Alertmanager",
    timedelta(seconds=120),
    is_live=True,
    stages=[[_FIND_DISK], [_EDIT]],
)
