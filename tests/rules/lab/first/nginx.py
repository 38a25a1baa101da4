# ruff: noqa: E501  # a scene is told in one line
"""nginx."""

import time
from pathlib import Path

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import ask, start_nginx, start_page, write_nginx

SITE = "http://127.0.0.1/"


def site(inner: str, *, more: str = "") -> str:
    return f"    {more}\n    server {{\n        listen 80;\n        server_name shop.example;\n        {inner}\n    }}\n"


TO_CHECKOUT = "location / { proxy_pass http://127.0.0.1:8080; }"


def the_application_is_away(machine: Machine) -> None:
    start_nginx(machine, site(TO_CHECKOUT))
    ask(machine, f"{SITE}orders", f"{SITE}cart", times=5)


def the_port_is_wrong(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(machine, site("location / { proxy_pass http://127.0.0.1:8018; }"))
    ask(machine, f"{SITE}orders", times=9)


def the_application_is_slow(machine: Machine) -> None:
    start_page(machine, 8080, "slow")
    start_nginx(
        machine, site("location / { proxy_pass http://127.0.0.1:8080; proxy_read_timeout 1s; }")
    )
    ask(machine, f"{SITE}orders", f"{SITE}cart", times=2)


def uploads_are_too_large(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(machine, site(f"client_max_body_size 1m; {TO_CHECKOUT}"))
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


def settings_are_broken(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(machine, site(TO_CHECKOUT))
    write_nginx(machine, site("location / { proxy_pas http://127.0.0.1:8080; }"))
    machine.run("/usr/sbin/nginx", "-s", "reload", may_fail=True)
    Path("/run/nginx.pid").read_text()
    machine.run("kill", "-HUP", Path("/run/nginx.pid").read_text().strip())
    time.sleep(0.4)


def the_socket_may_not_be_used(machine: Machine) -> None:
    machine.write(
        "/opt/shop/listens.py",
        "import socket, time\ns = socket.socket(socket.AF_UNIX)\ns.bind('/run/shop.sock')\ns.listen()\ntime.sleep(9999)\n",
    )
    machine.start("checkout", "/usr/bin/python3", "/opt/shop/listens.py")
    machine.wait_until(lambda: Path("/run/shop.sock").chmod(0o600) is None, "socket")
    start_nginx(machine, site("location / { proxy_pass http://unix:/run/shop.sock; }"))
    ask(machine, f"{SITE}orders", times=8)


def files_may_not_be_read(machine: Machine) -> None:
    machine.write("/srv/site/index.html", "<h1>shop</h1>", 0o600)
    machine.write("/srv/site/app.js", "1", 0o600)
    start_nginx(machine, site("root /srv/site;"))
    ask(machine, SITE, f"{SITE}app.js", times=5)


def the_answer_ends_early(machine: Machine) -> None:
    start_page(machine, 8080, "cut")
    start_nginx(machine, site(TO_CHECKOUT))
    ask(machine, f"{SITE}orders", f"{SITE}pay", times=4)


def all_is_well(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(machine, site(TO_CHECKOUT), ago="5d")
    ask(machine, f"{SITE}orders", times=5)


def pages_that_nobody_has(machine: Machine) -> None:
    machine.write("/srv/site/index.html", "<h1>shop</h1>")
    start_nginx(machine, site("root /srv/site;"), ago="2h")
    ask(machine, SITE, f"{SITE}favicon.ico", f"{SITE}wp-login.php", f"{SITE}.env", times=3)


def an_upstream_was_away_yesterday(machine: Machine) -> None:
    start_nginx(machine, site(TO_CHECKOUT), ago="26h")
    ask(machine, f"{SITE}orders", times=6)
    machine.turn_clock_back("0")
    start_page(machine, 8080)
    ask(machine, f"{SITE}orders", times=6)


_LABELS = {"job": "nginx", "severity": "critical"}
SCENES = (
    Scene("the application is away", {"alertname": "NginxHigh5xx", **_LABELS}, the_application_is_away,
          ("upstream|8080|application|backend", "refus|8080"), machine="web-1"),
    Scene("the port of the application is wrong", {"alertname": "NginxHigh5xx", **_LABELS}, the_port_is_wrong, ("8018",), machine="web-1"),
    Scene("the application is slow", {"alertname": "Nginx504", **_LABELS}, the_application_is_slow,
          ("time|slow|answer", "upstream|8080|application|backend"), machine="web-1"),
    Scene("uploads are too large", {"alertname": "Nginx413", **_LABELS}, uploads_are_too_large,
          ("large|big|client_max_body_size|body",), machine="web-1"),
    Scene("its settings are broken", {"alertname": "NginxReloadFailed", **_LABELS}, settings_are_broken,
          ("setting|configuration|directive|proxy_pas",), machine="web-1"),
    Scene("it may not use the socket of the application", {"alertname": "NginxHigh5xx", **_LABELS}, the_socket_may_not_be_used,
          ("permission|may not|denied|allowed", "shop.sock|socket"), machine="web-1"),
    Scene("it may not read its pages", {"alertname": "NginxHigh4xx", **_LABELS}, files_may_not_be_read,
          ("permission|may not|denied|allowed",), machine="web-1"),
    Scene("the application ends its answers early", {"alertname": "NginxHigh5xx", **_LABELS}, the_answer_ends_early,
          ("clos|early|end", "upstream|8080|application|backend|connection"), machine="web-1"),
    Scene("well: a quiet site", {"alertname": "NginxSlow", **_LABELS}, all_is_well, machine="web-1"),
    Scene("well: pages that nobody has", {"alertname": "Nginx404", **_LABELS}, pages_that_nobody_has, machine="web-1"),
    Scene("well: the application was away yesterday", {"alertname": "NginxSlow", **_LABELS}, an_upstream_was_away_yesterday, machine="web-1"),
)  # fmt: skip
