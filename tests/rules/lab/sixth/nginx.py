# ruff: noqa: E501  # a scene is told in one line
"""nginx."""

from datetime import timedelta

from tests.rules.host_scenarios import Host
from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import ask, start_nginx, start_page, write_nginx
from tests.rules.lab.shop import write_certificate
from tests.rules.lab.third.nginx import UNIT, A, site
from tests.rules.third_half import FAILED, unit_of


def _failed(why: str) -> Host:
    log = f"12:50:02 nginx[9011]: nginx: [emerg] {why}\n12:50:02 nginx[9011]: nginx: configuration file /etc/nginx/nginx.conf test failed\n12:50:02 systemd[1]: nginx.service: Control process exited, code=exited, status=1/FAILURE\n12:50:02 systemd[1]: nginx.service: Failed with result 'exit-code'."
    return Host(
        commands=unit_of(
            "nginx.service",
            "failed failed",
            "A high performance web server",
            log,
            FAILED.format("exit-code", 1, 0),
        )
    )


_NO_NAME = _failed(
    'host not found in upstream "inventory.svc.acme.test" in /etc/nginx/nginx.conf:11'
)
_NO_FIT = _failed(
    'SSL_CTX_use_PrivateKey("/etc/shop/key.pem") failed (SSL: error:05800074:x509 certificate routines::key values mismatch)'
)


def unknown_name(machine: Machine) -> None:
    write_nginx(machine, site("inventory.svc.acme.test"))
    machine.run("/usr/sbin/nginx", "-g", "daemon on;", may_fail=True)


def other_key(machine: Machine) -> None:
    day = timedelta(days=1)
    write_certificate(-day, 80 * day, ("shop.acme.test",), "/etc/shop/old")
    write_certificate(-day, 80 * day, ("shop.acme.test",), "/etc/shop")
    machine.run("cp", "/etc/shop/old/key.pem", "/etc/shop/key.pem")
    write_nginx(
        machine,
        "server { listen 443 ssl; server_name shop.acme.test; ssl_certificate /etc/shop/cert.pem; ssl_certificate_key /etc/shop/key.pem; }",
    )
    machine.run("/usr/sbin/nginx", "-g", "daemon on;", may_fail=True)


def warns_of_names(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(machine, site("127.0.0.1:8080") + "\n" + site("127.0.0.1:8080"))
    ask(machine, "http://127.0.0.1/", times=20)


SCENES = (
    Scene(
        "it does not know the name of what is behind it",
        {"alertname": "SiteDown", **A},
        unknown_name,
        ("inventory", "host not found|name|resol|DNS"),
        _NO_NAME,
    ),
    Scene(
        "the key is of another certificate",
        {"alertname": "SiteDown", **A},
        other_key,
        ("key", "mismatch|match|fit|belong|another|other"),
        _NO_FIT,
    ),
    Scene(
        "two sites of one name",
        {"alertname": "NginxLatencyHigh", "job": "nginx"},
        warns_of_names,
        (),
        UNIT,
    ),
)
