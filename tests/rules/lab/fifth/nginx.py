"""nginx."""

import time
from pathlib import Path

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import ask, start_nginx, start_page
from tests.rules.lab.third.nginx import UNIT, A, site


def half_is_dead(machine: Machine) -> None:
    start_page(machine, 8081, name="app-a")
    start_nginx(
        machine,
        site(
            "app",
            "proxy_next_upstream off;",
            before="upstream app { server 127.0.0.1:8081; server 127.0.0.1:8082 max_fails=0; }\n",
        ),
    )
    ask(machine, "http://127.0.0.1/", "http://127.0.0.1/account", times=8)


def points_to_nothing(machine: Machine) -> None:
    machine.write("/srv/releases/41/index.html", "hello")
    Path("/srv/current").symlink_to("/srv/releases/42")
    start_nginx(machine, "server { listen 80; root /srv/current; index index.html; }")
    ask(machine, "http://127.0.0.1/", "http://127.0.0.1/index.html", times=6)


def close_early(machine: Machine) -> None:
    start_page(machine, 8080)
    start_page(machine, 8081, "slow", name="events")
    start_nginx(
        machine,
        site("127.0.0.1:8080", extra="location /events { proxy_pass http://127.0.0.1:8081; }"),
    )
    for _ in range(3):
        machine.run("curl", "-s", "-m", "0.3", "http://127.0.0.1/events", may_fail=True)
    ask(machine, "http://127.0.0.1/", times=30)
    time.sleep(0.2)


SCENES = (
    Scene(
        "one of two servers behind it is dead",
        {"alertname": "Nginx5xx", **A},
        half_is_dead,
        ("8082", "refused|dead|not (run|listen|answer)|down|nobody|nothing"),
        UNIT,
    ),
    Scene(
        "the link to the release points to nothing",
        {"alertname": "SiteDown", **A},
        points_to_nothing,
        ("/srv/current", "no such|missing|not (exist|there)|not found|lack"),
        UNIT,
    ),
    Scene(
        "listeners of events go when they like",
        {"alertname": "NginxLatencyHigh", "job": "nginx"},
        close_early,
        (),
        UNIT,
    ),
)
