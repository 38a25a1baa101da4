"""A source that goes mad beside the other clients: more incidents at once than anybody may look
into."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.chaos.outcome import Check
from benchmarks.chaos.posting import post_json
from benchmarks.chaos.sending import Sender

PATH = "/api/v1/webhooks/prometheus?alert_type=direct"
SOURCE = "prometheus"
ALERTS = 60
MOST = 10
"""`storm_after` of the configuration of these runs."""
_START = "2026-11-21T07:00:00Z"
_END = "2026-11-21T08:00:00Z"

Step = tuple[str, bool]
"""An alert, and whether it fires."""


@dataclass
class Storm(Sender):
    """Every alert twice, in any order, as fast as they are taken; then a part of them is over."""

    url: str
    chance: random.Random
    accepted: int = 0
    told: dict[str, bool] = field(default_factory=dict)
    """Of each alert whether it fires, as it was accepted last."""

    def __post_init__(self) -> None:
        super().__init__("storm")

    def _plan(self) -> Sequence[Step]:
        names = [f"host-{number:03}" for number in range(ALERTS)]
        begins = [(name, True) for name in (*names, *names)]
        self.chance.shuffle(begins)
        return [*begins, *((name, False) for name in self.chance.sample(names, k=ALERTS // 3))]

    def _post_all(self) -> None:
        for step in self._plan():
            while not self._post(step):
                if self._stop.wait(0.25):
                    return

    def _post(self, step: Step) -> bool:
        name, fires = step
        alert = {
            "labels": {"alertname": "Unreachable", "service": name, "severity": "warning"},
            "annotations": {"summary": f"{name} does not answer"},
            "startsAt": _START,
            "endsAt": "0001-01-01T00:00:00Z" if fires else _END,
        }
        answered, _ = post_json(self.url, [alert])
        if answered != 202:
            return False
        self.accepted += 1
        self.told[name] = fires
        return True


def check_storm(storm: Storm) -> Check:
    """Each alert is a member of one incident and in the state that was told; no more incidents are
    left, and looked into, than may be at once."""
    from investigations.models import AlertEpisode, AlertSession, Incident

    broken = []
    rows = AlertEpisode.objects.filter(source=SOURCE)
    found = [(row.labels["service"], row.state == "firing", row.incident) for row in rows]
    if len(found) != len(storm.told):
        broken.append(f"{len(storm.told)} alerts were told, and {len(found)} are kept")
    states = {name: fires for name, fires, _ in found}
    broken += [
        f"{name} {'fires' if fires else 'is over'}, and is kept otherwise"
        for name, fires in storm.told.items()
        if states.get(name) != fires
    ]
    broken += [
        f"{name} belongs to no incident that is there"
        for name, _, incident in found
        if incident is None or incident.absorbed_by_id
    ]
    left = Incident.objects.filter(source=SOURCE, absorbed_by=None)
    storms = left.filter(kind=Incident.Kind.STORM).count()
    if left.count() > MOST + storms:
        broken.append(f"{left.count()} incidents are left, {storms} of them storms")
    members = sum(left.values_list("member_count", flat=True))
    if members != len(storm.told):
        broken.append(f"the incidents count {members} members")
    for incident in left:
        began = AlertSession.objects.filter(incident=incident, started_at__isnull=False).count()
        if began > 1:
            broken.append(f"incident {incident.pk} was investigated {began} times")
    began = AlertSession.objects.filter(source=SOURCE, started_at__isnull=False).count()
    if began > MOST + storms:
        broken.append(f"{began} investigations began")
    promise = "a storm leaves few incidents, and each of its alerts in one of them"
    return Check(promise, len(storm.told), broken)
