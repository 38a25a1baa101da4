"""Uptime Kuma."""

import re
from collections.abc import Mapping
from dataclasses import replace

from investigations.sources.fields import (
    Members,
    Moment,
    Part,
    Text,
    Url,
    as_object,
    read_text,
    read_url,
)
from investigations.sources.generic import read_document
from investigations.sources.reading import (
    JSON,
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    make_alert,
    name_and_told,
    telling_line,
)
from investigations.sources.signs import Source
from investigations.sources.telling import walk

_STATES: Mapping[str, tuple[State, str]] = {
    "0": ("firing", ""),
    "1": ("resolved", ""),
    "2": ("other", "pending: the check is tried again"),
    "3": ("other", "in a maintenance"),
}
_NOTICE = re.compile(r"\[(?P<monitor>[^\]]*)\](?:\[(?P<url>[^\]]*)\])?(?P<told>.*)", re.DOTALL)


_SAID = re.compile(
    r"[*_]{0,3}\[(?P<monitor>[^\]\n]{1,200}|\[[^\]\n]{1,100}\][^\[\]\n]{1,100})\]"
    r" \[[^\w\]]{0,4}(?P<state>Up|Down)\](?P<told>[^\n]*)"
)
"""How its message begins, whatever somebody's template calls it."""
_EARLIER = re.compile(r"(?:prev|last|old|former|prior|before)\w*")


class Heartbeat(Part):
    monitorID: Text = ""
    status: Text = ""
    time: Moment = None
    msg: Text = ""


class Tag(Part):
    name: Text = ""
    value: Text = ""


class Monitor(Part):
    id: Text = ""
    name: Text = ""
    url: Url = ""
    hostname: Text = ""
    type: Text = ""
    tags: Members = ()


def read(post: Post) -> Reading:
    body = as_object(post.body)
    if "heartbeat" not in body:
        return Reading(source="uptime_kuma", alerts=(_read_template(body),))
    if not isinstance(body.get("heartbeat"), dict):
        alert = _read_without_heartbeat(post, read_text(body.get("msg")))
        return Reading(source="uptime_kuma", alerts=(alert,))
    beat = Heartbeat.model_validate(body["heartbeat"])
    monitor = Monitor.model_validate(body.get("monitor"))
    state, reason = _STATES.get(beat.status, ("firing", ""))
    tags = [Tag.model_validate(each) for each in monitor.tags]
    named = {"monitor": monitor.name, "type": monitor.type, "hostname": monitor.hostname}
    named |= {tag.name: tag.value or tag.name for tag in tags if tag.name}
    alert = make_alert(
        state,
        reason=reason,
        key=monitor.id or beat.monitorID or monitor.name,
        titles=(name_and_told(monitor.name, beat.msg), read_text(body.get("msg"))),
        service=monitor.name,
        severity=named.get("severity") or named.get("priority", ""),
        labels=named,
        links=Links(alert=monitor.url),
        starts_at=beat.time if state == "firing" else None,
        ends_at=beat.time if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="uptime_kuma", alerts=(alert,))


def _read_without_heartbeat(post: Post, told: str) -> AlertReading:
    """The test button and the notice that a certificate runs out send no heartbeat. The notice
    begins with the monitor in brackets; its days, which count down, are no part of the key."""
    notice = _NOTICE.fullmatch(told)
    return make_alert(
        "firing" if notice else "test",
        key=re.sub(r"\d+", "#", told[:400]),
        titles=(name_and_told(notice["monitor"], notice["told"]) if notice else told,),
        service=notice["monitor"] if notice else "",
        links=Links(alert=read_url(notice["url"])) if notice else None,
        body=post.body,
    )


def _read_template(body: dict[str, JSON]) -> AlertReading:
    """What a custom body says in usual fields, else in the message that it holds."""
    alert = read_document(body)
    texts = (each.text[:500] for each in walk(body) if not _EARLIER.fullmatch(each.folded))
    told = [found for text in texts if (found := _SAID.match(text.strip()))]
    said = next((each for each in told if each["state"] == "Down"), told[0] if told else None)
    if said is None:
        return alert
    state: State = "resolved" if said["state"] == "Up" else "firing"
    if alert.tells_end and alert.state != state:
        return alert
    return replace(
        alert,
        state=state,
        reason="",
        key=said["monitor"],
        key_from=(),
        title=telling_line(name_and_told(said["monitor"], said["told"])),
        service=alert.service or said["monitor"],
        tells_end=True,
    )


SOURCE = Source(
    name="uptime_kuma",
    label="Uptime Kuma",
    is_template=True,
    signs=(("heartbeat", "monitor", "msg"), ("heartbeat.monitorID", "heartbeat.status")),
    expects="an object with `heartbeat`, `monitor` and `msg`",
    read=read,
)
