# ruff: noqa: E501  # a scene is told in one line
"""nginx."""

from pathlib import Path

from tests.rules.host_scenarios import FINE_UNITS, UNITS, Host
from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import NGINX_LOG, ask, start_nginx, start_page, write_nginx

SITE = "server {{ listen 80; server_name shop.acme.test; location / {{ proxy_pass http://{up}; {more} }} {extra} }}"


def site(up: str, more: str = "", extra: str = "", before: str = "") -> str:
    return before + SITE.format(up=up, more=more, extra=extra)


def none_alive(machine: Machine) -> None:
    start_page(machine, 9003, name="other")
    start_nginx(
        machine,
        site(
            "backend",
            before="upstream backend { server 127.0.0.1:9001 max_fails=1 fail_timeout=60s; server 127.0.0.1:9002 max_fails=1 fail_timeout=60s; }\n",
        ),
        ago="6m",
    )
    ask(machine, "http://127.0.0.1/cart", times=5)
    machine.turn_clock_back("0")
    ask(machine, "http://127.0.0.1/cart", "http://127.0.0.1/api/items", times=3)


def too_large(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(machine, site("127.0.0.1:8080", extra="client_max_body_size 100k;"))
    machine.write("/opt/picture.bin", "x" * 500_000)
    for _ in range(6):
        machine.run(
            "curl",
            "-s",
            "-o",
            "/dev/null",
            "--data-binary",
            "@/opt/picture.bin",
            "http://127.0.0.1/upload",
            may_fail=True,
        )
    ask(machine, "http://127.0.0.1/")


def broken_reload(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(machine, site("127.0.0.1:8080"), ago="3d")
    ask(machine, "http://127.0.0.1/", times=3)
    machine.turn_clock_back("4m")
    write_nginx(
        machine, site("127.0.0.1:8080", extra="location /new { proxy_pas http://127.0.0.1:8081; }")
    )
    machine.run("kill", "-HUP", Path("/run/nginx.pid").read_text().strip())
    machine.wait_until(lambda: "emerg" in Path(NGINX_LOG).read_text(), "the refusal")
    machine.turn_clock_back("0")
    ask(machine, "http://127.0.0.1/new")


def no_space_for_files(machine: Machine) -> None:
    machine.mount("/var/lib/nginx", "64k")
    start_page(machine, 8080, says="y" * 120_000)
    machine.give_to("www-data", "/var/lib/nginx/proxy")
    start_nginx(
        machine,
        site(
            "127.0.0.1:8080",
            "proxy_max_temp_file_size 10m; proxy_buffers 4 4k; proxy_buffer_size 4k; proxy_cache c; proxy_cache_valid 200 10m;",
            before="proxy_cache_path /var/lib/nginx/cache keys_zone=c:1m max_size=50m;\n",
        ),
    )
    for n in range(6):
        ask(machine, f"http://127.0.0.1/big/{n}")


def bad_answers(machine: Machine) -> None:
    start_page(machine, 8080, "500", "Traceback (most recent call last)", name="catalog")
    start_page(machine, 8081, name="cart")
    start_nginx(
        machine,
        site("127.0.0.1:8080", extra="location /cart { proxy_pass http://127.0.0.1:8081; }"),
    )
    ask(
        machine,
        "http://127.0.0.1/list",
        "http://127.0.0.1/list?page=2",
        "http://127.0.0.1/cart",
        times=5,
    )


def yesterday(machine: Machine) -> None:
    start_nginx(machine, site("127.0.0.1:8080"), ago="26h")
    ask(machine, "http://127.0.0.1/cart", times=9)
    machine.turn_clock_back("25h")
    start_page(machine, 8080)
    ask(machine, "http://127.0.0.1/cart", times=2)
    machine.turn_clock_back("0")
    ask(machine, "http://127.0.0.1/cart", times=12)


def reopened(machine: Machine) -> None:
    start_page(machine, 8080)
    start_nginx(machine, site("127.0.0.1:8080", extra="client_body_buffer_size 1k;"))
    machine.run("kill", "-USR1", Path("/run/nginx.pid").read_text().strip())
    machine.write("/opt/picture.bin", "x" * 50_000)
    machine.run(
        "curl",
        "-s",
        "-o",
        "/dev/null",
        "--data-binary",
        "@/opt/picture.bin",
        "http://127.0.0.1/upload",
        may_fail=True,
    )
    ask(machine, "http://127.0.0.1/", times=8)


A = {"job": "nginx", "severity": "critical"}


UNIT = Host(commands={UNITS: FINE_UNITS})


SCENES = (
    Scene(
        "both backends are dead",
        {"alertname": "Nginx5xx", **A},
        none_alive,
        ("9001|9002|backend|upstream", "refus|listen|alive|live|dead|down|answer"),
        UNIT,
        "edge-1",
    ),
    Scene(
        "uploads are larger than allowed",
        {"alertname": "UploadsFail", "service": "upload"},
        too_large,
        ("body|large|client_max_body_size|413",),
        UNIT,
    ),
    Scene(
        "a reload was refused",
        {"alertname": "NginxReloadFailed", **A},
        broken_reload,
        ("proxy_pas|directive|configur",),
        UNIT,
    ),
    Scene(
        "no space for what is cached",
        {"alertname": "DownloadsBroken", "service": "web"},
        no_space_for_files,
        ("space|/var/lib/nginx",),
        UNIT,
    ),
    Scene(
        "one application behind it answers with errors",
        {"alertname": "Nginx5xx", **A},
        bad_answers,
        ("8080|catalog|list", "500|error|fail"),
        UNIT,
    ),
    Scene(
        "the backend was away yesterday",
        {"alertname": "NginxLatencyHigh", "job": "nginx"},
        yesterday,
        (),
        UNIT,
    ),
    Scene(
        "logs were reopened and a body was buffered",
        {"alertname": "NginxLatencyHigh", "job": "nginx"},
        reopened,
        (),
        UNIT,
    ),
)
