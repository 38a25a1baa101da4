# ruff: noqa: E501  # a scene is told in one line
"""nginx, other faults."""

import time
from datetime import timedelta
from pathlib import Path

from tests.rules.host_scenarios import GB, Host
from tests.rules.lab.first.nginx import SITE, TO_CHECKOUT, site
from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import ask, in_background, start_nginx, start_page, write_nginx
from tests.rules.lab.shop import write_certificate


def connections_run_out(machine: Machine) -> None:
    start_page(machine, 8080, "slow")
    start_nginx(machine, site(TO_CHECKOUT), connections=12)
    for _ in range(14):
        in_background(lambda: ask(machine, f"{SITE}orders"))
    time.sleep(2)
    ask(machine, f"{SITE}orders", times=3)


def a_certificate_is_gone(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(machine, site(TO_CHECKOUT))
    write_nginx(
        machine,
        site(
            TO_CHECKOUT,
            more="server { listen 443 ssl; ssl_certificate /etc/ssl/shop/fullchain.pem; ssl_certificate_key /etc/ssl/shop/key.pem; }",
        ),
    )
    machine.run("kill", "-HUP", Path("/run/nginx.pid").read_text().strip())
    time.sleep(0.5)


def no_upstream_is_left(machine: Machine) -> None:
    start_nginx(
        machine,
        site(
            "location / { proxy_pass http://checkout; }",
            more="upstream checkout { server 127.0.0.1:8081 max_fails=1 fail_timeout=60s; server 127.0.0.1:8082 max_fails=1 fail_timeout=60s; }",
        ),
    )
    ask(machine, f"{SITE}orders", times=9)


def the_name_of_the_application_is_unknown(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(machine, site(TO_CHECKOUT))
    write_nginx(machine, site("location / { proxy_pass http://checkout.internal:8080; }"))
    machine.run("kill", "-HUP", Path("/run/nginx.pid").read_text().strip())
    time.sleep(0.5)


def another_holds_its_port(machine: Machine) -> None:
    Path("/var/log/nginx").mkdir(parents=True, exist_ok=True)
    start_page(machine, 80, name="old-apache")
    write_nginx(machine, site(TO_CHECKOUT))
    machine.start("nginx", "/usr/sbin/nginx", "-g", "daemon off;")
    machine.wait_until(lambda: machine.ended("nginx"), "its end")


def the_header_is_too_big(machine: Machine) -> None:
    start_page(machine, 8080, "header")
    start_nginx(machine, site(TO_CHECKOUT))
    ask(machine, f"{SITE}login", times=7)


def the_certificate_behind_it_has_ended(machine: Machine) -> None:
    write_certificate(timedelta(days=-90), timedelta(days=-2), ("checkout.internal",))
    start_nginx(
        machine,
        site(
            "location / { proxy_pass https://127.0.0.1:8443; proxy_ssl_verify on; proxy_ssl_name checkout.internal; proxy_ssl_trusted_certificate /etc/shop/cert.pem; }",
            more="server { listen 8443 ssl; ssl_certificate /etc/shop/cert.pem; ssl_certificate_key /etc/shop/key.pem; }",
        ),
    )
    ask(machine, f"{SITE}orders", times=7)


def its_volume_is_full(machine: Machine) -> None:
    start_page(machine, 8080)
    machine.mount("/var/lib/nginx", "64k")
    start_nginx(
        machine,
        site(
            f"client_body_buffer_size 8k; client_max_body_size 20m; client_body_temp_path /var/lib/nginx/body; {TO_CHECKOUT}"
        ),
    )
    machine.write("/srv/picture", "x" * 3_000_000)
    for _ in range(6):
        machine.run(
            "curl",
            "-s",
            "-o",
            "/dev/null",
            "--data-binary",
            "@/srv/picture",
            f"{SITE}upload",
            may_fail=True,
        )


def files_run_out(machine: Machine) -> None:
    start_page(machine, 8080, "slow")
    start_nginx(machine, site(TO_CHECKOUT), main="worker_rlimit_nofile 20;", connections=256)
    for _ in range(16):
        in_background(lambda: ask(machine, f"{SITE}orders"))
    time.sleep(2)


def all_is_well(machine: Machine) -> None:
    write_certificate(timedelta(days=-20), timedelta(days=70), ("shop.example",))
    start_page(machine, 8080)
    start_nginx(
        machine,
        site(
            TO_CHECKOUT,
            more="server { listen 443 ssl; ssl_certificate /etc/shop/cert.pem; ssl_certificate_key /etc/shop/key.pem; location / { proxy_pass http://127.0.0.1:8080; } }",
        ),
        ago="30d",
    )
    ask(machine, f"{SITE}orders", "https://127.0.0.1/cart", times=5)


def somebody_speaks_no_tls(machine: Machine) -> None:
    write_certificate(timedelta(days=-20), timedelta(days=70), ("shop.example",))
    start_page(machine, 8080)
    start_nginx(
        machine,
        site(
            TO_CHECKOUT,
            more="server { listen 443 ssl; ssl_certificate /etc/shop/cert.pem; ssl_certificate_key /etc/shop/key.pem; }",
        ),
        ago="20m",
    )
    for _ in range(4):
        machine.run(
            "bash",
            "-c",
            "printf '\\x16\\x03\\x01\\x00\\x05\\x01\\x00\\x00\\x01\\x03' | timeout 1 bash -c 'cat > /dev/tcp/127.0.0.1/443'",
            may_fail=True,
        )
    ask(machine, f"{SITE}orders", times=5)


def names_are_told_twice(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(
        machine,
        site(TO_CHECKOUT, more="server { listen 80; server_name shop.example; return 200; }"),
        ago="3d",
    )
    ask(machine, f"{SITE}orders", times=5)


def bodies_go_to_a_file(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(
        machine,
        site(f"client_max_body_size 20m; client_body_buffer_size 8k; {TO_CHECKOUT}"),
        ago="10m",
    )
    machine.write("/srv/picture", "x" * 300_000)
    for _ in range(5):
        machine.run(
            "curl",
            "-s",
            "-o",
            "/dev/null",
            "--data-binary",
            "@/srv/picture",
            f"{SITE}upload",
            may_fail=True,
        )


_FULL = Host(
    disks=(("/", 41.0, 12.0), ("/var/lib/nginx", 100.0, 3.0)),
    files=(("/var/lib/nginx/body/0000000001", GB),),
)
_LABELS = {"job": "nginx", "severity": "critical"}
SCENES = (
    Scene("its connections run out", {"alertname": "NginxHigh5xx", **_LABELS}, connections_run_out, ("worker_connections|connections",), machine="web-2"),
    Scene("a certificate of its settings is gone", {"alertname": "NginxReloadFailed", **_LABELS}, a_certificate_is_gone, ("certificate|fullchain",), machine="web-2"),
    Scene("no server of a group is left", {"alertname": "NginxHigh5xx", **_LABELS}, no_upstream_is_left,
          ("upstream|8081|8082|application|backend", "live|refus|808|answer"), machine="web-2"),
    Scene("the name of the application is unknown", {"alertname": "NginxReloadFailed", **_LABELS}, the_name_of_the_application_is_unknown,
          ("checkout.internal",), machine="web-2"),
    Scene("another holds its port", {"alertname": "NginxDown", **_LABELS}, another_holds_its_port, ("port|:80|address", "use|taken|held|holds|listen|another"), machine="web-2"),
    Scene("a header of the application is too big", {"alertname": "NginxHigh5xx", **_LABELS}, the_header_is_too_big, ("header",), machine="web-2"),
    Scene("the certificate behind it has ended", {"alertname": "NginxHigh5xx", **_LABELS}, the_certificate_behind_it_has_ended, ("certificate",), machine="web-2"),
    Scene("its volume is full", {"alertname": "NginxUploadsFail", **_LABELS}, its_volume_is_full, ("space|full",), _FULL, machine="web-2"),
    Scene("its open files run out", {"alertname": "NginxHigh5xx", **_LABELS}, files_run_out, ("open files|descriptor|files",), machine="web-2"),
    Scene("well: a site with a certificate", {"alertname": "NginxSlow", **_LABELS}, all_is_well, machine="web-2"),
    Scene("well: somebody tries odd handshakes", {"alertname": "NginxSlow", **_LABELS}, somebody_speaks_no_tls, machine="web-2"),
    Scene("well: a name is told twice", {"alertname": "NginxSlow", **_LABELS}, names_are_told_twice, machine="web-2"),
    Scene("well: bodies go to a file", {"alertname": "NginxSlow", **_LABELS}, bodies_go_to_a_file, machine="web-2"),
)  # fmt: skip
