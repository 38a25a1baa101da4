"""Two agents that want to change something: one restart, and one edit of a file."""

from datetime import timedelta
from hashlib import sha256

from safety.gate.file_changes import FileChange
from screenshots.story import Agent, Call, Request, Story, Turn

_FIND_EXPORTER = Agent(
    turns=[
        Turn(
            thinking="Find the unit first, then its state and the end of its log.",
            calls=[
                Call(
                    "ops.query",
                    {"action": "search", "kind": "service", "query": "nginx web-3"},
                    '{"id": "service:web-3:nginx.service", "status": "failed", "since": "08:51:40"}',
                    "unit",
                    0.22,
                ),
                Call(
                    "ops.read",
                    {"action": "logs", "resource_id": "service:web-3:nginx.service"},
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
            text="nginx failed at 08:51 because haproxy held port 443; it is free again since "
            "08:52 [log]. One restart brings web-3 back into the pool.",
            calls=[
                Call(
                    "ops.control",
                    {
                        "type": "service",
                        "resource_id": "service:web-3:nginx.service",
                        "action": "restart",
                    },
                    request=Request("service:web-3:nginx.service", "failed"),
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
# Clears up what the shop writes. Managed by hand.
SHELL=/bin/sh

17 4 * * 0  shop  /opt/shop/bin/rotate-logs --keep 52w
"""
_AFTER = """\
# Clears up what the shop writes. Managed by hand.
SHELL=/bin/sh

17 * * * *  shop  /opt/shop/bin/rotate-logs --max-size 500M --compress
27 4 * * *  shop  /opt/shop/bin/rotate-logs --keep 14d
"""
_PATH = "/etc/cron.d/shop-logs"
_FIND_DISK = Agent(
    turns=[
        Turn(
            thinking="Which file system, and what takes the space? Then how it is rotated.",
            calls=[
                Call(
                    "ops.storage",
                    {"action": "usage", "resource_id": "host:db-2"},
                    '{"/": "41 %", "/var": "97 %", "/var.free_bytes": 1288490188}',
                    "disk",
                    0.19,
                ),
                Call(
                    "ops.storage",
                    {"action": "largest", "path": "/var/log", "resource_id": "host:db-2"},
                    "38.2G  /var/log/shop\n 1.1G  /var/log/journal\n",
                    "usage",
                    1.61,
                ),
                Call(
                    "ops.file_edit",
                    {"action": "read", "path": _PATH, "resource_id": "host:db-2"},
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
            thinking="With a size limit and compression two weeks take about 3 GB. The crontab is the "
            "right place; its next run applies it.",
            text="The logs are cleared up once a week and kept for a year [rules]. I ask to rotate "
            "them each hour from 500M on, compressed, and to keep two weeks.",
            calls=[
                Call(
                    "ops.file_edit",
                    {
                        "action": "write",
                        "path": _PATH,
                        "resource_id": "host:db-2",
                        "content": _AFTER,
                        "expected_sha256": sha256(_BEFORE.encode()).hexdigest(),
                    },
                    request=Request(
                        f"file:db-2:{_PATH}",
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
