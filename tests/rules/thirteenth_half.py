# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts in the thirteenth half, whose maker had read some rules of the packs.

Its clusters stand in `lab/thirteenth`; what its servers say stands in `worlds/thirteenth`
and was written by hand in the forms of the recorded ones.
"""

from tests.rules import host_scenarios as hosts
from tests.rules import kubernetes_scenarios as clusters
from tests.rules.host_scenarios import Host
from tests.rules.third_half import FAILED, RUNS, alert_of, failed, unit_of

HOSTS = (
    hosts.Scenario(
        "systemd ends a unit for the pressure it makes",
        failed(
            "render",
            "Renderer",
            "12:51:40 systemd[1]: render.service: systemd-oomd killed 14 process(es) in this unit.\n12:51:41 systemd[1]: render.service: Main process exited, code=killed, status=9/KILL\n12:51:41 systemd[1]: render.service: Failed with result 'oom-kill'.",
            "oom-kill",
            9,
        ),
        words=("render", "memory|oom"),
        alert=alert_of("ServiceDown", service="render"),
    ),
    hosts.Scenario(
        "a script may not be run",
        failed(
            "sync-stock",
            "Sync of the stock",
            "12:52:10 systemd[811]: sync-stock.service: Failed to execute /usr/local/bin/sync-stock.sh: Permission denied\n12:52:10 systemd[811]: sync-stock.service: Failed at step EXEC spawning /usr/local/bin/sync-stock.sh: Permission denied\n12:52:10 systemd[1]: sync-stock.service: Main process exited, code=exited, status=203/EXEC\n12:52:10 systemd[1]: sync-stock.service: Failed with result 'exit-code'.",
            code=203,
        ),
        words=("sync-stock", "permission denied|may not|203|exec"),
        alert=alert_of("SystemdUnitFailed", unit="sync-stock.service"),
    ),
    hosts.Scenario(
        "Java does not trust the bank",
        failed(
            "payout",
            "Payouts",
            "12:52:01 java[811]: 2026-11-30T12:52:01.114+01:00 ERROR 811 --- [main] c.a.payout.Bank : cannot open session\n12:52:01 java[811]: javax.net.ssl.SSLHandshakeException: PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target\n12:52:01 java[811]: \tat java.base/sun.security.ssl.Alert.createSSLException(Alert.java:131)\n12:52:01 systemd[1]: payout.service: Main process exited, code=exited, status=1/FAILURE\n12:52:01 systemd[1]: payout.service: Failed with result 'exit-code'.",
            again=True,
        ),
        words=("payout", "certificat|certification|PKIX|trust|SSL"),
        alert=alert_of("ServiceDown", service="payout"),
    ),
    hosts.Scenario(
        "workers of gunicorn are ended from outside",
        Host(
            left=9.0,
            by_memory=(("gunicorn", 71.0),),
            load={"swap": 61.0, "memory_some": 22.0},
            commands=unit_of(
                "desk.service",
                "active running",
                "Desk",
                "12:50:11 gunicorn[811]: [2026-11-30 12:50:11 +0100] [811] [ERROR] Worker (pid:9120) was sent SIGKILL! Perhaps out of memory?\n12:50:11 gunicorn[9188]: [2026-11-30 12:50:11 +0100] [9188] [INFO] Booting worker with pid: 9188\n12:52:44 gunicorn[811]: [2026-11-30 12:52:44 +0100] [811] [ERROR] Worker (pid:9188) was sent SIGKILL! Perhaps out of memory?\n12:53:09 gunicorn[811]: [2026-11-30 12:53:09 +0100] [811] [ERROR] Worker (pid:9201) was sent SIGKILL! Perhaps out of memory?",
                RUNS,
            ),
        ),
        words=("desk|gunicorn", "memory"),
        alert=alert_of("DeskErrors", service="desk"),
    ),
    hosts.Scenario(
        "Caddy may not open its port",
        failed(
            "caddy",
            "Caddy",
            '12:52:10 caddy[811]: {"level":"info","ts":1796039530.1,"msg":"using config from file","file":"/etc/caddy/Caddyfile"}\n12:52:10 caddy[811]: Error: loading initial config: loading new config: http app module: start: listening on :443: listen tcp :443: bind: permission denied\n12:52:10 systemd[1]: caddy.service: Main process exited, code=exited, status=1/FAILURE\n12:52:10 systemd[1]: caddy.service: Failed with result \'exit-code\'.',
        ),
        words=("caddy", "443|permission"),
        alert=alert_of("ServiceDown", service="caddy"),
    ),
    hosts.Scenario(
        "a dump may not read a table",
        failed(
            "pgdump",
            "Dump of the shop",
            "02:00:02 pgdump.sh[811]: pg_dump: error: query failed: ERROR:  permission denied for table loyalty_card\n02:00:02 pgdump.sh[811]: pg_dump: detail: Query was: LOCK TABLE public.loyalty_card IN ACCESS SHARE MODE\n02:00:02 systemd[1]: pgdump.service: Main process exited, code=exited, status=1/FAILURE",
        ),
        words=("pgdump|pg_dump", "loyalty_card|permission"),
        alert=alert_of("BackupFailed", service="pgdump"),
    ),
    hosts.Scenario(
        "the shell of a script reads Spanish",
        Host(
            disks=(("/", 44.0, 8.0), ("/srv", 12.0, 1.0)),
            commands=unit_of(
                "informe.service",
                "failed failed",
                "Informe diario",
                "07:00:01 informe.sh[811]: /usr/local/bin/informe.sh: línea 12: /srv/datos/ventas.csv: No existe el fichero o el directorio\n07:00:01 systemd[1]: informe.service: Main process exited, code=exited, status=1/FAILURE\n07:00:01 systemd[1]: informe.service: Failed with result 'exit-code'.",
                FAILED.format("exit-code", 1, 0).replace("12:53:11", "07:00:01"),
            ),
        ),
        words=("informe", "ventas\\.csv|No existe"),
        alert=alert_of("SystemdUnitFailed", unit="informe.service"),
    ),
    hosts.Scenario(
        "Grafana's own database is locked",
        Host(
            commands=unit_of(
                "grafana-server.service",
                "active running",
                "Grafana instance",
                "".join(
                    f'12:5{n}:11 grafana[811]: logger=sqlstore.session t=2026-11-30T12:5{n}:11.114+01:00 level=error msg="Database locked, giving up" error="database is locked" retries=5 code="database is locked"\n'
                    for n in range(4)
                ),
                RUNS,
            )
        ),
        words=("grafana", "locked"),
        alert=alert_of("GrafanaErrors", service="grafana-server"),
    ),
    hosts.Scenario(
        "a memory is full of cache",
        Host(left=22.0, load={"swap": 31.0, "memory_some": 0.4}, by_memory=(("postgres", 31.0),)),
        alert=alert_of("HostMemoryHigh"),
    ),
    hosts.Scenario(
        "strangers knock at the door",
        Host(
            commands=unit_of(
                "ssh.service",
                "active running",
                "OpenBSD Secure Shell server",
                "".join(
                    f"12:5{n}:11 sshd[90{n}]: Failed password for invalid user admin from 198.51.100.{n} port 4011{n} ssh2\n12:5{n}:12 sshd[90{n}]: Connection closed by invalid user admin 198.51.100.{n} port 4011{n} [preauth]\n"
                    for n in range(4)
                ),
                RUNS,
            )
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
)

CLUSTERS: tuple[clusters.Scenario, ...] = ()
