"""`alert_senders`: by what posts of an alert source prove where they come from."""

import re
from collections.abc import Mapping
from ipaddress import ip_network
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from config.schema.fields import (
    Block,
    FilledText,
    List,
    PositiveDuration,
    Text,
    VariableName,
    one_of,
)
from config.tree import Scalar

Form = Literal[
    "token", "basic", "github", "grafana", "jira", "pagerduty", "sentry", "standard_webhooks", "sns"
]

FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "alertmanager": "token",
        "aws_eventbridge": "token",
        "aws_sns": "sns",
        "azure_monitor": "token",
        "checkmk": "token",
        "cloudevents": "token",
        "datadog": "token",
        "dynatrace": "token",
        "elastic_watcher": "token",
        "gcp_monitoring": "token",
        "generic": "token",
        "github": "github",
        "google_pubsub": "token",
        "grafana": "grafana",
        "icinga2": "token",
        "jira_sm": "jira",
        "kibana": "token",
        "kubernetes_event": "token",
        "nagios": "token",
        "newrelic": "token",
        "opsgenie": "token",
        "pagerduty": "pagerduty",
        "prometheus": "token",
        "sentry": "sentry",
        "servicenow": "token",
        "splunk": "token",
        "uptime_kuma": "token",
        "zabbix": "token",
    }
)
"""The usual form of each source: its own signature where it signs, else a token."""

_TOPIC = re.compile(r"arn:aws[a-z-]{0,20}:sns:[a-z0-9-]{5,30}:\d{12}:[\w.-]{1,256}", re.ASCII)
_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}", re.ASCII)


def _wrong(message: str) -> PydanticCustomError:
    return PydanticCustomError("wrong", "{message}", {"message": message})


def _as_network(value: object) -> object:
    try:
        ip_network(str(value) if isinstance(value, Scalar | str) else "", strict=False)
    except ValueError:
        raise _wrong("must be a network such as 10.0.0.0/8, or an address") from None
    return value


def _as_topic(value: object) -> object:
    if not _TOPIC.fullmatch(str(value) if isinstance(value, Scalar | str) else ""):
        raise _wrong("must be the ARN of a topic: arn:aws:sns:REGION:ACCOUNT:NAME")
    return value


def _as_header(value: object) -> object:
    if isinstance(value, Scalar | str) and str(value) and not _HEADER.fullmatch(str(value)):
        raise _wrong("must be the name of a header: letters, digits and dashes")
    return value


class AlertSenderConfig(Block):
    """What a post to `/api/v1/webhooks/NAME` must show where it brings no API token."""

    form: Annotated[Form, one_of()] | None = None
    """How the secret is shown: `token` (in a header or in the address), `basic`, the signature of
    `github`, `grafana`, `jira`, `pagerduty` or `sentry`, that of `standard_webhooks` (Svix as
    well), or `sns` (the certificate of Amazon SNS). Unset: the source's own signature where it
    signs, else `token`."""
    secret_envs: List[VariableName] = ()
    """The variables that hold the secret, several while one takes the place of another. Empty:
    posts are taken without a secret, but from this machine and from `networks` only."""
    user: Text = ""
    """The user of `basic`."""
    header: Annotated[Text, BeforeValidator(_as_header)] = ""
    """The header of a token or a signature. Empty: `Authorization`, or the one that the source
    uses."""
    query: Text = ""
    """The parameter of the address that holds the token, for senders that cannot set a header. It
    may end up in the logs of proxies."""
    timestamp_header: Annotated[Text, BeforeValidator(_as_header)] = ""
    """The header with the time that Grafana signs, as it is set there."""
    max_age: PositiveDuration | None = None
    """How old a post may be, where its time is signed. Unset: 5 minutes, and an hour for Amazon
    SNS, which tries again as long as that."""
    topics: List[Annotated[FilledText, BeforeValidator(_as_topic)]] = ()
    """The topics of Amazon SNS that posts are taken from, and whose subscriptions are confirmed, by
    their ARN."""
    networks: List[Annotated[FilledText, BeforeValidator(_as_network)]] = ()
    """The networks that posts may come from. Empty: from anywhere with a secret, and from this
    machine without one."""
