"""Reports that say more than is proved: a quote that is not there, an act that never was, a write
that nothing has confirmed. What the model says in them is in proofs.yaml."""

from pathlib import Path

from investigations.sources.reading import JSON
from screenshots.player import Alert, Play, Post

SCRIPT = Path(__file__).with_name("proofs.yaml")


def _post(*mounts: str) -> dict[str, JSON]:
    """What Alertmanager posts about file systems of db-2 that fill up."""
    shared: dict[str, JSON] = {"alertname": "DiskPressure", "host": "db-2", "severity": "critical"}
    return {
        "version": "4",
        "receiver": "tarsy",
        "status": "firing",
        "groupKey": '{}:{alertname="DiskPressure", host="db-2"}',
        "groupLabels": {"alertname": "DiskPressure", "host": "db-2"},
        "commonLabels": shared,
        "alerts": [
            {
                "status": "firing",
                "labels": {**shared, "mount": mount},
                "annotations": {"summary": f"db-2: disk {mount} 97 % full"},
                "fingerprint": f"{number:016x}",
            }
            for number, mount in enumerate(mounts, 0xD5C0)
        ],
    }


MISQUOTED = Play("Watch", Post("alertmanager", _post("/var", "/var/log")))
RESTARTED = Play("Watch", Alert({"title": "web-3: nginx does not answer", "host": "web-3"}))
UNVERIFIED = Play(
    "Mend",
    Alert({"title": "web-4: nginx.service is down", "host": "web-4", "unit": "nginx.service"}),
    approvals=1,
)
ALL = {"misquoted": MISQUOTED, "restarted": RESTARTED, "unverified": UNVERIFIED}
"""By the names under which sights ask for them."""
