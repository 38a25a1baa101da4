"""Nagios, and whatever notifies with its macros: Icinga's scripts and Checkmk's."""

from collections.abc import Mapping

from pydantic import AliasChoices, Field

from investigations.sources.fields import Moment, Part, Text, Url, fold_names
from investigations.sources.reading import (
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    make_alert,
)
from investigations.sources.severity import Severity
from investigations.sources.signs import Source

_STATES: Mapping[str, tuple[State, str]] = {
    "PROBLEM": ("firing", ""),
    "RECOVERY": ("resolved", ""),
    "ACKNOWLEDGEMENT": ("acknowledged", ""),
}
SEVERITIES: Mapping[str, Severity] = {
    "crit": "critical",
    "down": "critical",
    "unreachable": "critical",
    "unreach": "critical",
    "unkn": "unknown",
    "unknown": "unknown",
}
_GOOD = ("OK", "UP")


def _any_of(*names: str) -> Text:
    return Field("", validation_alias=AliasChoices(*names))


class Notification(Part):
    kind: Text = _any_of("notificationtype", "notification_type", "type")
    host: Text = _any_of("hostname", "host_name", "host")
    alias: Text = _any_of("hostalias", "host_alias", "alias")
    service: Text = _any_of(
        "servicedesc", "service_desc", "service_description", "service_name", "service",
        "servicedisplayname",
    )  # fmt: skip
    host_state: Text = _any_of("hoststate", "host_state")
    service_state: Text = _any_of("servicestate", "service_state")
    status: Text = _any_of("status", "state")
    severity: Text = _any_of("severity")
    host_output: Text = _any_of("hostoutput", "host_output")
    output: Text = _any_of("serviceoutput", "service_output", "output")
    summary: Text = _any_of("summary")
    address: Text = _any_of("hostaddress", "host_address", "address")
    site: Text = _any_of("omd_site", "site")
    url: Url = _any_of("url", "serviceurl", "hosturl")
    host_notes: Url = _any_of("hostnotesurl", "host_notes_url")
    notes: Url = _any_of("servicenotesurl", "service_notes_url", "notes_url")
    service_since: Moment = Field(None, validation_alias=AliasChoices("lastservicestatechange"))
    host_since: Moment = Field(None, validation_alias=AliasChoices("lasthoststatechange"))


def read(post: Post) -> Reading:
    return Reading(source="nagios", alerts=(read_notification(post),))


def read_notification(post: Post) -> AlertReading:
    """The alert of a set of macros, whatever prefix and case their names have."""
    told = Notification.model_validate(fold_names(post.body, "notify_", "nagios_", "icinga_"))
    # `$HOSTNAME$!$SERVICEDESC$` is how Nagios itself writes it; a service may share its host's.
    word = told.service_state if told.service else told.host_state
    word = word or told.status or told.severity
    state, reason = judge(told.kind, word)
    # Scripts of Checkmk write OK for the severity of a host that is down.
    is_contradiction = state == "firing" and told.severity.upper() in _GOOD
    severity = told.severity if told.severity and not is_contradiction else word
    output = told.output if told.service else told.host_output or told.output
    what = f"{told.service} on {told.host}" if told.service else told.host
    key = "!".join(each for each in (told.site, told.host, told.service) if each)
    named = {"host": told.host, "service": told.service, "address": told.address, "site": told.site}
    return make_alert(
        state,
        reason=reason,
        key=key,
        titles=(f"{what}: {output}" if what and output else what, told.summary, output),
        severity=severity,
        severities=SEVERITIES,
        service=told.service or told.host,
        labels=named,
        links=Links(alert=told.url, runbook=told.notes or told.host_notes),
        starts_at=(told.service_since or told.host_since) if state == "firing" else None,
        body=post.body,
    )


def judge(kind: str, word: str) -> tuple[State, str]:
    """By the type of a notification; without one by the state itself."""
    kind = kind.upper().partition(" ")[0]
    if kind in _STATES:
        return _STATES[kind]
    if not kind:
        return ("resolved", "") if word.upper() in _GOOD else ("firing", "")
    return "other", f"{kind.lower()} is no alert"


SOURCE = Source(
    name="nagios",
    label="Nagios",
    signs=(
        ("NOTIFICATIONTYPE", "HOSTNAME"),
        ("NAGIOS_NOTIFICATIONTYPE", "NAGIOS_HOSTNAME"),
        ("notificationtype", "hostname"),
        ("notification_type", "host_name"),
        ("notification_type", "hostname"),
        ("HOSTNAME", "SERVICESTATE"),
        ("HOSTNAME", "HOSTSTATE"),
    ),
    expects="an object with NOTIFICATIONTYPE, HOSTNAME and the other macros of a notification",
    read=read,
    is_template=True,
)
