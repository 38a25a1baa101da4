"""Every source, how a post is recognised as one of theirs, and how it is read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from config.words import suggest
from investigations.sources import (
    alertmanager,
    aws,
    azure,
    checkmk,
    cloudevents,
    datadog,
    dynatrace,
    elastic,
    generic,
    github,
    google_cloud,
    google_pubsub,
    grafana,
    icinga2,
    jira_sm,
    kubernetes_event,
    nagios,
    newrelic,
    opsgenie,
    pagerduty,
    sentry,
    servicenow,
    splunk,
    uptime_kuma,
    zabbix,
)
from investigations.sources.fields import split_members
from investigations.sources.generic import Mapped, holds_anything, read_mapped
from investigations.sources.reading import (
    JSON,
    AlertReading,
    Post,
    Reading,
    settle,
    telling_line,
)
from investigations.sources.signs import Source
from investigations.sources.telling import titles_of_document
from tarsy.errors import InvalidInput, NotFound

BODY = "body"
_NEAR = 0.6
"""The share of a sign from which on a post is said to look like a source's."""

GENERIC = Source(
    name="generic",
    label="unknown sender",
    signs=(),
    expects="an object, or a list of objects",
    read=generic.read,
    is_template=True,
    alert_opens="Alert",
)
# Grafana's form holds Alertmanager's, Checkmk's holds Nagios'; envelopes are looked at first.
SOURCES: Mapping[str, Source] = {
    source.name: source
    for source in (
        cloudevents.SOURCE,
        aws.SNS,
        aws.EVENTBRIDGE,
        google_pubsub.SOURCE,
        azure.SOURCE,
        google_cloud.SOURCE,
        grafana.SOURCE,
        alertmanager.ALERTMANAGER,
        alertmanager.PROMETHEUS,
        pagerduty.SOURCE,
        opsgenie.SOURCE,
        jira_sm.SOURCE,
        sentry.SOURCE,
        github.SOURCE,
        datadog.SOURCE,
        newrelic.SOURCE,
        dynatrace.SOURCE,
        splunk.SOURCE,
        elastic.WATCHER,
        elastic.KIBANA,
        zabbix.SOURCE,
        checkmk.SOURCE,
        icinga2.SOURCE,
        nagios.SOURCE,
        uptime_kuma.SOURCE,
        kubernetes_event.SOURCE,
        servicenow.SOURCE,
        GENERIC,
    )
}
_ENVELOPES: Mapping[str, Callable[[Post], Post | None]] = {
    cloudevents.SOURCE.name: cloudevents.unwrap,
    aws.SNS.name: aws.unwrap_sns,
    aws.EVENTBRIDGE.name: aws.unwrap_eventbridge,
    google_pubsub.SOURCE.name: google_pubsub.unwrap,
}


@dataclass(frozen=True)
class Recognition:
    """The source of a post; else the sources that it looks most like."""

    source: Source | None
    post: Post
    is_bare: bool = False
    """By so little that another address than the source's own says more."""

    @property
    def nearest(self) -> tuple[Source, ...]:
        """Asked for only where somebody is told of it: every sign of every source is looked at."""
        if self.source:
            return ()
        shares = {name: each.nearness(self.post) for name, each in SOURCES.items()}
        best = max(shares.values())
        return tuple(SOURCES[name] for name, share in shares.items() if share == best >= _NEAR)[:3]


def recognise(post: Post) -> Recognition:
    """By headers and shape. Every post has one answer, whatever it is."""
    known = next((each for each in SOURCES.values() if each.recognises(post)), None)
    if known:
        return Recognition(known, post)
    likely = next((each for each in SOURCES.values() if each.suits(post)), None)
    return Recognition(likely, post, is_bare=likely is not None)


def titles_of_post(body: JSON) -> Iterator[str]:
    """The titles of a post of a known source, those of alerts that fire first."""
    post = Post(body)
    source = recognise(post).source
    if source:
        alerts = sorted(_read(source, post).alerts, key=lambda alert: alert.state != "firing")
        yield from (alert.title for alert in alerts)


def read_post(post: Post) -> Reading:
    """A post of whatever source. What nobody knows is read as it is, if it is an object.

    Raises InvalidInput for what holds no alert at all.
    """
    _refuse_nothing(post)
    return _read(recognise(post).source or GENERIC, post)


def read_post_of(name: str, post: Post, own: Mapping[str, Mapped]) -> Reading:
    """A post to the address of one source, of ours or of the operator's `own`.

    Raises NotFound for a source that nobody knows, and InvalidInput for a post that is not of this
    source: it names the address where it should have gone to.
    """
    if name in own:
        _refuse_nothing(post)
        return _settle(read_mapped(name, own[name], post))
    source = SOURCES.get(name)
    if source is None:
        raise NotFound(f'there is no alert source "{name[:60]}"{suggest(name, [*SOURCES, *own])}')
    # A form may hold another one: what suffices at this address may be a post of somebody else.
    found = recognise(post)
    other = found.source
    is_own = other in (source, None) or other.name in source.also
    if source.reads(post) and (is_own or found.is_bare):
        return _read(source, post)
    _refuse_nothing(post)
    if source.is_template and is_own:
        return _read_template(source, post)
    raise InvalidInput(BODY, _tell_stranger(source, found))


def _read_template(source: Source, post: Post) -> Reading:
    """What a user's own template says, at the address of its source."""
    members = post.body if isinstance(post.body, list) else [post.body]
    objects, bad, left_out = split_members(members, "")
    readings = [source.read(Post(each, post.headers)) for each in objects]
    alerts = tuple(alert for each in readings for alert in each.alerts)
    # What has no form of its own was read by its usual fields already.
    if source is not GENERIC:
        alerts = tuple(map(generic.with_what_is_told, alerts))
    return _settle(Reading(source.name, alerts, unreadable=bad, left_out=left_out))


def _with_title(alert: AlertReading) -> AlertReading:
    """An alert is told by something, also where its source's own fields are empty."""
    if alert.title or alert.state not in ("firing", "resolved"):
        return alert
    lines = map(telling_line, titles_of_document(alert.body))
    return replace(alert, title=next((line for line in lines if line), ""))


def _read(source: Source, post: Post) -> Reading:
    reading = source.read(post)
    if source.is_template and source is not GENERIC:
        told = tuple(map(generic.with_severity_told, reading.alerts))
        reading = replace(reading, alerts=told)
    unwrap = _ENVELOPES.get(source.name)
    inner = unwrap(post) if unwrap and not reading.notice else None
    held = recognise(inner).source if inner else None
    if inner and held and held is not source:
        read = _read(held, inner)
        reading = replace(read, delivery_id=reading.delivery_id or read.delivery_id)
    return _settle(reading)


def _settle(reading: Reading) -> Reading:
    return settle(replace(reading, alerts=tuple(map(_with_title, reading.alerts))))


def _refuse_nothing(post: Post) -> None:
    if not holds_anything(post.body):
        raise InvalidInput(BODY, "holds no alert: it must be an object, or a list of objects")


def _tell_stranger(source: Source, found: Recognition) -> str:
    told = f"is no post of {source.label}: that is {source.expects}"
    likely = [found.source] if found.source else [each for each in found.nearest if each != source]
    if likely:
        places = " or ".join(f"/api/v1/webhooks/{each.name}" for each in likely)
        told += f". It looks like one of {likely[0].label}: send it to {places}"
    return told
