"""Two agents that want to change something: one restart, and one edit of a file. What the model says
in them is in repairs.yaml."""

from collections.abc import Mapping
from pathlib import Path

from screenshots.player import Alert, Play

SCRIPT = Path(__file__).with_name("repairs.yaml")
_CRONTAB = """\
# Clears up what the shop writes. Managed by hand.
SHELL=/bin/sh

17 4 * * 0  shop  /opt/shop/bin/rotate-logs --keep 52w
"""
_RESTART = Play(
    "Mend",
    Alert({"title": "web-5: nginx.service is down", "host": "web-5", "unit": "nginx.service"}),
    is_left_waiting=True,
)


def write_plays(folder: Path) -> Mapping[str, Play]:
    """The plays, by the names under which sights ask for them; the file to edit is in the folder."""
    file = folder / "cron.d" / "shop-logs"
    file.parent.mkdir()
    file.write_text(_CRONTAB, encoding="utf-8")
    alert = Alert({"title": "The shop's rotate-logs keeps too much", "file": str(file)})
    return {"restart": _RESTART, "edit": Play("Edit", alert, is_left_waiting=True)}
