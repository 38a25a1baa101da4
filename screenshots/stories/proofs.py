"""Reports that say more than is proved: a quote that is not there, an act that never was, a write
that nothing has confirmed."""

from datetime import timedelta

from screenshots.story import Agent, Call, Request, Story, Turn


def _story(title: str, agent: Agent, summary: str, ago: timedelta) -> Story:
    return Story(
        "DiskPressure",
        {"title": title, "alertname": "DiskPressure"},
        "Alertmanager",
        ago,
        stages=[[agent], [Agent([], summary)]],
    )


_USAGE = Call(
    "ops.storage",
    {"action": "largest", "path": "/var/log"},
    "38.2G  /var/log/shop\n 1.1G  /var/log/journal\n 0.3G  /var/log/nginx\n",
    "usage",
    1.6,
)
_DISK = Call(
    "ops.storage",
    {"action": "usage", "resource_id": "host:db-2"},
    '{"/": "41 %", "/var": "97 %", "/var.free_bytes": 1288490188}',
    "disk",
)

MISQUOTED = _story(
    "db-2: disk /var 97 % full",
    Agent(
        [Turn("Which file system, and what takes the space?", calls=[_DISK, _USAGE], seconds=9)],
        "## Conclusion\nLogs of the shop fill /var of db-2. Confidence: high\n\n## Evidence\n"
        '1. /var is 97 % full [disk "/var: 97 %"].\n'
        '2. 38.2G of it are logs of the shop [usage "38.2G  /var/log/shop"].\n'
        '3. They are kept for 52 weeks [usage "--keep 52w"].\n'
        "4. The journal takes 1.1G [usage].\n\n"
        "## Next steps\n1. Rotate the logs of the shop: `logrotate -f /etc/logrotate.d/shop`\n\n"
        "## Not checked\n- Nothing.\n",
    ),
    "Logs of the shop fill /var of db-2; it is 97 % full.",
    timedelta(minutes=52),
)
RESTARTED = _story(
    "web-3: nginx does not answer",
    Agent(
        [
            Turn(
                "Is it running, and what does its log end with?",
                calls=[
                    Call(
                        "ops.query",
                        {"action": "get", "resource_id": "service:web-3:nginx.service"},
                        '{"id": "service:web-3:nginx.service", "status": "running", '
                        '"since": "08:56:02"}',
                        "unit",
                    )
                ],
                seconds=6,
            )
        ],
        "## Conclusion\nnginx on web-3 hung. I restarted the nginx service and it answers again. "
        "Confidence: high\n\n## Evidence\n"
        '1. nginx is running since 08:56:02 [unit "since: 08:56:02"].\n\n'
        "## Next steps\n1. Find out why it hung.\n",
    ),
    "nginx on web-3 hung and answers again since 08:56:02.",
    timedelta(minutes=47),
)
UNVERIFIED = _story(
    "web-4: nginx.service is down",
    Agent(
        [
            Turn(
                "It has failed; one restart is worth a try.",
                calls=[
                    Call(
                        "ops.query",
                        {"action": "get", "resource_id": "service:web-4:nginx.service"},
                        '{"id": "service:web-4:nginx.service", "status": "failed"}',
                        "state",
                    ),
                    Call(
                        "ops.control",
                        {
                            "type": "service",
                            "resource_id": "service:web-4:nginx.service",
                            "action": "restart",
                        },
                        '{"ok": true, "data": {"action": "restart"}}',
                        "restart",
                        2.4,
                        request=Request("service:web-4:nginx.service", "failed"),
                        approved_by="ana",
                    ),
                ],
                seconds=8,
            )
        ],
        "## Conclusion\nnginx on web-4 had failed and was restarted once. Confidence: medium\n\n"
        '## Evidence\n1. Its state was failed [state "status: failed"].\n'
        '2. The restart was accepted [restart "ok: true"].\n\n'
        "## Next steps\n1. Look whether it answers: `curl -fsS http://web-4/healthz`\n\n"
        "## Not checked\n- How it is after the restart.\n",
    ),
    "nginx on web-4 had failed and was restarted once; how it is now is not known.",
    timedelta(minutes=41),
)
