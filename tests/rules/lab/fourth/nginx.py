"""nginx."""

import time
from pathlib import Path

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import NGINX_LOG, ask, start_nginx, start_page
from tests.rules.lab.third.nginx import UNIT, A, site


def too_slow(machine: Machine) -> None:
    start_page(machine, 8080, "slow")
    start_nginx(machine, site("127.0.0.1:8080", "proxy_read_timeout 1s; proxy_connect_timeout 1s;"))
    ask(machine, "http://127.0.0.1/search?q=a", "http://127.0.0.1/search?q=b", times=3)


def no_connections_left(machine: Machine) -> None:
    start_page(machine, 8080, "slow")
    start_nginx(machine, site("127.0.0.1:8080"), connections=12)
    for n in range(14):
        machine.start(f"curl{n}", "/usr/bin/curl", "-s", "-m", "20", "http://127.0.0.1/x")
    machine.wait_until(
        lambda: "worker_connections are not enough" in Path(NGINX_LOG).read_text(), "the alert"
    )


def limits_everyone(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(
        machine,
        site(
            "127.0.0.1:8080",
            "limit_req zone=perip burst=2 nodelay;",
            before="limit_req_zone $binary_remote_addr zone=perip:1m rate=1r/s;\n",
        ),
    )
    ask(machine, "http://127.0.0.1/", times=30)


def may_not_read(machine: Machine) -> None:
    machine.write("/srv/site/index.html", "hello")
    Path("/srv/site").chmod(0o700)
    start_nginx(machine, "server { listen 80; root /srv/site; index index.html; }")
    ask(machine, "http://127.0.0.1/index.html", "http://127.0.0.1/", times=3)


def bots(machine: Machine) -> None:
    machine.write("/srv/site/index.html", "hello")
    start_nginx(machine, "server { listen 80; root /srv/site; }")
    ask(
        machine,
        "http://127.0.0.1/wp-login.php",
        "http://127.0.0.1/.env",
        "http://127.0.0.1/favicon.ico",
        "http://127.0.0.1/index.html",
        "http://127.0.0.1/index.html",
        times=4,
    )


def impatient(machine: Machine) -> None:
    start_page(machine, 8080)
    start_page(machine, 8081, "slow", name="export")
    start_nginx(
        machine,
        site("127.0.0.1:8080", extra="location /export { proxy_pass http://127.0.0.1:8081; }"),
    )
    machine.run("curl", "-s", "-m", "0.5", "http://127.0.0.1/export", may_fail=True)
    ask(machine, "http://127.0.0.1/", times=20)
    time.sleep(0.2)


SCENES = (
    Scene(
        "the search takes longer than is waited for",
        {"alertname": "GatewayTimeouts", **A},
        too_slow,
        ("8080", "slow|time|late|answer|hang"),
        UNIT,
    ),
    Scene(
        "workers have no connections left",
        {"alertname": "SiteDown", **A},
        no_connections_left,
        ("worker_connections|connections",),
        UNIT,
    ),
    Scene(
        "a limit throttles everybody",
        {"alertname": "Nginx5xx", **A},
        limits_everyone,
        ("limit",),
        UNIT,
    ),
    Scene(
        "the site may not be read",
        {"alertname": "Nginx403", **A},
        may_not_read,
        ("permission|denied|may not|read", "srv/site|nginx"),
        UNIT,
    ),
    Scene("scanners look for holes", {"alertname": "NginxHighRequestRate", **A}, bots, (), UNIT),
    Scene(
        "one caller gave up on an export",
        {"alertname": "NginxLatencyHigh", "job": "nginx"},
        impatient,
        (),
        UNIT,
    ),
)
