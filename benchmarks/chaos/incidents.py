"""An Alertmanager beside the other client: alerts that come twice, in any order, and recover."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.chaos.outcome import Check
from benchmarks.chaos.posting import post_json
from benchmarks.chaos.sending import Sender

PATH = "/api/v1/webhooks/alertmanager?alert_type=direct"
MEMBERS = 3
_START = "2026-11-21T07:00:00Z"
_END = "2026-11-21T08:00:00Z"

Step = tuple[str, str, str]
"""Group, member and status of one alert."""


@dataclass
class Alertmanager(Sender):
    """Posts until it is answered 202, as the real one does, and sometimes once more."""

    url: str
    groups: int
    chance: random.Random
    every: float
    accepted: int = 0
    posts: int = 0
    told: dict[str, dict[str, str]] = field(default_factory=dict)
    """By group the state of each member, as it was accepted last."""

    def __post_init__(self) -> None:
        super().__init__("alertmanager")

    def _plan(self) -> Sequence[Step]:
        """Every alert begins, some twice; those of every other group are over in the end."""
        steps: list[Step] = []
        for number in range(self.groups):
            group = f"incident-{number:03}"
            members = [f"{group}-{member}" for member in range(MEMBERS)]
            begins = [(group, member, "firing") for member in members]
            steps += self.chance.sample([*begins, *begins[:2]], k=MEMBERS + 2)
            if number % 2:
                steps += [(group, member, "resolved") for member in members]
        return steps

    def _post_all(self) -> None:
        for step in self._plan():
            if self._stop.wait(self.every):
                return
            while not self._post(step):
                if self._stop.wait(0.25):
                    return

    def _post(self, step: Step) -> bool:
        group, member, status = step
        alert = {
            "status": status,
            "labels": {"alertname": "LoadHigh", "severity": "critical", "instance": member},
            "annotations": {"summary": f"the load of {member} is high"},
            "startsAt": _START,
            "endsAt": _END if status == "resolved" else "0001-01-01T00:00:00Z",
            "fingerprint": member,
        }
        body = {"version": "4", "groupKey": group, "status": status, "alerts": [alert]}
        self.posts += 1
        answered, _ = post_json(self.url, body)
        if answered != 202:
            return False
        self.accepted += 1
        self.told.setdefault(group, {})[member] = status
        return True


def check_incidents(alertmanager: Alertmanager) -> Check:
    """Each group is one incident with all its members and one investigation, in the state told."""
    from investigations.models import Incident

    broken = []
    for group, members in alertmanager.told.items():
        found = Incident.objects.filter(source="alertmanager", group_key=group)
        if found.count() != 1:
            broken.append(f"{group} has {found.count()} incidents")
            continue
        incident = found.get()
        states = dict(incident.members.filter(is_latest=True).values_list("key", "state"))
        if states != members:
            broken.append(f"{group} is {states}, and was told to be {members}")
        if incident.is_open != ("firing" in members.values()):
            broken.append(f"{group} is {incident.state}, its members {members}")
        began = incident.sessions.filter(started_at__isnull=False).count()
        if began > 1:
            broken.append(f"{group} was investigated {began} times")
        # A person may have cancelled it before it began.
        is_cancelled = incident.sessions.filter(status="cancelled").exists()
        if began == 0 and "firing" in members.values() and not is_cancelled:
            broken.append(f"{group} was never investigated")
    return Check("each incident has one investigation and the state it was told",
                 len(alertmanager.told), broken)  # fmt: skip
