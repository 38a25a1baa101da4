"""CloudWatch alarms and other events of AWS, over SNS (an envelope, or raw) and EventBridge."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import AliasChoices, Field

from investigations.sources import generic
from investigations.sources.fields import (
    Labels,
    Moment,
    Object,
    Part,
    Text,
    Url,
    as_object,
    read_text,
    split_members,
)
from investigations.sources.inner_json import read_inner
from investigations.sources.reading import (
    JSON,
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    all_of,
    bound_key,
    make_alert,
    name_and_told,
    telling_line,
)
from investigations.sources.said_titles import says_firing, says_over, without_said_state
from investigations.sources.severity import Severity, normalise
from investigations.sources.signs import Source
from investigations.sources.telling import find_titles, walk

_STATES: Mapping[str, tuple[State, str]] = {
    "ALARM": ("firing", ""),
    "OK": ("resolved", ""),
    "INSUFFICIENT_DATA": ("other", "not enough data to judge the alarm (INSUFFICIENT_DATA)"),
}
_CONFIRMATIONS = {
    "SubscriptionConfirmation": "subscription confirmation: no address was fetched; whoever runs "
    "TARSy confirms the subscription of {topic} in the AWS console, or by opening the SubscribeURL "
    "of this post after checking that its host ends in .amazonaws.com",
    "UnsubscribeConfirmation": "unsubscribe confirmation: {topic} sends nothing here any more; "
    "nothing was subscribed anew",
}
_WEIGHTS: Sequence[tuple[float, Severity]] = (
    (9.0, "critical"), (7.0, "high"), (4.0, "warning"), (0.0, "info"),
)  # fmt: skip
_ALARM_EVENT = "CloudWatch Alarm State Change"
_CLOSED_INSIGHT = "CLOSED_INSIGHT"
_ECS = "aws.ecs"
_OF_TASKS = frozenset({"PROVISIONING", "PENDING", "ACTIVATING", "RUNNING"})
"""What a task goes through until it runs."""
_ENDS_WELL = ("_COMPLETED", "_STEADY_STATE")
"""How the names of events of ECS end that say that a service is as it should be."""
_PARTNER = "aws.partner/"
_FINE = frozenset({"succeeded", "completed", "passed", "running"})
_UNDER_WAY = frozenset({
    "started", "starting", "submitted", "pending", "runnable", "in_progress", "in progress",
    "queued", "resumed", "created", "provisioning",
})  # fmt: skip


class Envelope(Part):
    Type: Text = ""
    MessageId: Text = ""
    TopicArn: Text = ""
    Subject: Text = ""
    Message: Text = ""
    Timestamp: Moment = None


class AlarmTrigger(Part):
    MetricName: Text = ""
    Namespace: Text = ""
    Dimensions: Labels = {}


class Alarm(Part):
    AlarmName: Text = ""
    AlarmDescription: Text = ""
    AlarmArn: Text = ""
    AWSAccountId: Text = ""
    Region: Text = ""
    NewStateValue: Text = ""
    NewStateReason: Text = ""
    StateChangeTime: Moment = None
    Trigger: AlarmTrigger = AlarmTrigger()


class StateOfAlarm(Part):
    value: Text = ""
    reason: Text = ""
    timestamp: Moment = None


class Configuration(Part):
    description: Text = ""


class Weight(Part):
    Label: Text = ""


class Settling(Part):
    Status: Text = ""


class Finding(Part):
    Id: Text = ""
    Title: Text = ""
    ProductName: Text = ""
    AwsAccountId: Text = ""
    Severity: Weight = Weight()
    Workflow: Settling = Settling()
    RecordState: Text = ""
    CreatedAt: Moment = None
    UpdatedAt: Moment = None
    SourceUrl: Url = ""


class Detail(Part):
    """Of an alarm `state` is an object; of a job or a run, a word."""

    title: Text = Field("", validation_alias=AliasChoices("title", "insightDescription"))
    Message: Text = ""
    alarmName: Text = ""
    state: StateOfAlarm = StateOfAlarm()
    word: Text = Field("", validation_alias=AliasChoices("state", "status"))
    configuration: Configuration = Configuration()
    lastStatus: Text = ""
    desiredStatus: Text = ""
    healthStatus: Text = ""
    eventType: Text = ""
    eventName: Text = ""
    statusCode: Text = ""
    messageType: Text = ""
    eventArn: Text = ""
    insightId: Text = ""
    insightUrl: Url = ""
    resourceArn: Text = ""
    severity: Text = Field("", validation_alias=AliasChoices("severity", "insightSeverity"))


class EventBridgeEvent(Part):
    id: Text = ""
    detail_type: Text = ""
    source: Text = ""
    account: Text = ""
    region: Text = ""
    time: Moment = None
    resources: tuple[Text, ...] = ()
    detail: Object = {}


def read_sns(post: Post) -> Reading:
    body = as_object(post.body)
    envelope = Envelope.model_validate(body)
    kind = envelope.Type or post.headers.get("x-amz-sns-message-type", "")
    if kind in _CONFIRMATIONS:
        return Reading(
            source="aws_sns",
            notice=_CONFIRMATIONS[kind].format(topic=envelope.TopicArn or "the topic"),
            delivery_id=envelope.MessageId,
        )
    inner = _open(body)
    is_alarm = isinstance(inner, dict) and "AlarmName" in inner and "NewStateValue" in inner
    alert = _read_alarm(inner) if is_alarm else _read_message(envelope, inner)
    return Reading(source="aws_sns", alerts=(alert,), delivery_id=envelope.MessageId)


def unwrap_sns(post: Post) -> Post | None:
    """What stands in an SNS envelope, for the sources that post through one."""
    inner = _open(as_object(post.body))
    return None if inner is post.body or inner is None else Post(inner, {})


def _open(body: Mapping[str, JSON]) -> JSON:
    """The inner document: as a text, as some relays write it as an object, or raw."""
    if "Message" not in body:
        return dict(body)
    message = body["Message"]
    return read_inner(message) if isinstance(message, str) else message


def _read_alarm(inner: JSON) -> AlertReading:
    alarm = Alarm.model_validate(inner)
    state, reason = _STATES.get(alarm.NewStateValue, ("other", f"state {alarm.NewStateValue[:60]}"))
    trigger = alarm.Trigger
    named = {
        "alarm": alarm.AlarmName,
        "metric": trigger.MetricName,
        "metric_namespace": trigger.Namespace,
        "region": alarm.AlarmArn.split(":")[3] if alarm.AlarmArn.count(":") > 3 else alarm.Region,
        "account": alarm.AWSAccountId,
    }
    return make_alert(
        state,
        reason=reason,
        key=alarm.AlarmArn or all_of(alarm.AWSAccountId, alarm.Region, alarm.AlarmName),
        titles=(name_and_told(alarm.AlarmName, alarm.AlarmDescription),),
        labels={**named, **trigger.Dimensions},
        starts_at=alarm.StateChangeTime if state == "firing" else None,
        ends_at=alarm.StateChangeTime if state == "resolved" else None,
        body=inner,
    )


def _read_message(envelope: Envelope, inner: JSON) -> AlertReading:
    """Any other message of a topic: a document, or a text that is told by its subject or its first
    line. That it is over, either says before anything else or not at all."""
    if isinstance(inner, dict) and inner:
        return _read_document(envelope, inner)
    told = next((line for line in envelope.Message.splitlines() if line.strip()), "")
    # Without the envelope's addresses: whoever opens one of them ends the subscription.
    kept: JSON = {
        "TopicArn": envelope.TopicArn,
        "Subject": envelope.Subject,
        "Message": envelope.Message,
    }
    is_over = says_over(envelope.Subject or told) and not says_firing(envelope.Message)
    about = without_said_state(envelope.Subject or envelope.Message)
    return make_alert(
        "resolved" if is_over else "firing",
        key=all_of(envelope.TopicArn, about),
        titles=(
            envelope.Subject,
            "" if isinstance(inner, list) else told,
            envelope.TopicArn.rpartition(":")[2],
        ),
        labels={"topic": envelope.TopicArn} if envelope.TopicArn else {},
        starts_at=None if is_over else envelope.Timestamp,
        ends_at=envelope.Timestamp if is_over else None,
        tells_end=is_over,
        body=kept if inner is None else inner,
    )


def _read_document(envelope: Envelope, inner: dict[str, JSON]) -> AlertReading:
    """A subject may be the same for all messages of a service, so the resource is named beside it
    where it does not stand there. What tells an end has a key of its own."""
    alert = generic.read_document(inner)
    about = next(find_titles(list(walk(inner))), "")
    title = telling_line(name_and_told(envelope.Subject, about)) or alert.title
    arns = [each for each in inner.values() if isinstance(each, str) and each.startswith("arn:")]
    unnamed = [each for each in arns if re.split("[:/]", each)[-1] not in envelope.Subject]
    of_topic = all_of(envelope.TopicArn, envelope.Subject, *unnamed)
    topic = {"topic": envelope.TopicArn} if envelope.TopicArn else {}
    return replace(
        alert,
        key=alert.key if alert.tells_end else bound_key(of_topic) or alert.key,
        title=title,
        labels={**alert.labels, **topic},
        starts_at=alert.starts_at or (envelope.Timestamp if alert.state == "firing" else None),
    )


def read_eventbridge(post: Post) -> Reading:
    body = as_object(post.body)
    event = EventBridgeEvent.model_validate(
        {**body, "detail_type": body.get("detail-type"), "resources": _texts(body)}
    )
    if "findings" in event.detail:
        members, bad, left_out = split_members(event.detail["findings"], "detail.findings")
        found = tuple(map(_read_finding, members))
        return Reading("aws_eventbridge", found, "", event.id, "", bad, left_out)
    detail = Detail.model_validate(event.detail)
    state, reason = _state_of_event(event, detail)
    moment = detail.state.timestamp or event.time
    resource = event.resources[0] if event.resources else ""
    alert = make_alert(
        state,
        reason=reason,
        key=detail.eventArn
        or all_of(event.source, detail.insightId)
        or detail.resourceArn
        or resource
        or all_of(event.source, event.detail_type, event.id),
        titles=(
            name_and_told(detail.alarmName, detail.configuration.description),
            detail.title,
            name_and_told(f"{event.detail_type} {resource.rpartition(':')[2]}", detail.Message),
        ),
        severity=detail.severity,
        severities=_name_weight(detail.severity),
        labels={"account": event.account, "region": event.region, "source": event.source},
        links=Links(alert=detail.insightUrl),
        starts_at=moment if state == "firing" else None,
        ends_at=moment if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="aws_eventbridge", alerts=(alert,), delivery_id=event.id)


def unwrap_eventbridge(post: Post) -> Post | None:
    """What a partner of AWS has put on the bus is a post of that partner's."""
    body = as_object(post.body)
    is_of_partner = read_text(body.get("source")).startswith(_PARTNER)
    return Post(body.get("detail"), {}) if is_of_partner else None


def _state_of_event(event: EventBridgeEvent, detail: Detail) -> tuple[State, str]:
    """An alarm tells its state. A job, a run or an insight tells a word: what is fine is over, what
    has but begun says nothing yet, and anything else fires."""
    if event.detail_type == _ALARM_EVENT:
        value = detail.state.value
        return _STATES.get(value, ("other", f"state {value[:60]}"))
    word = detail.word.lower()
    if word in _UNDER_WAY:
        return "other", f"state {detail.word[:60]}"
    if event.source == _ECS and not word:
        return _state_of_service(detail)
    # A login from abroad succeeds as well, and what is unwell may run.
    is_heavy = normalise(detail.severity, {}) in ("critical", "high", "warning")
    is_well = word in _FINE and not is_heavy and detail.healthStatus != "UNHEALTHY"
    is_over = is_well or detail.statusCode == "closed"
    is_over = is_over or detail.messageType == _CLOSED_INSIGHT
    return ("resolved" if is_over else "firing"), ""


def _state_of_service(detail: Detail) -> tuple[State, str]:
    """A task that is to run and does is well, unless its containers are not; one that is on its way
    there says nothing yet, and one that is to stop fires. A service tells of what goes well."""
    if detail.lastStatus:
        is_wanted = detail.desiredStatus == "RUNNING" and detail.healthStatus != "UNHEALTHY"
        if not is_wanted or detail.lastStatus not in _OF_TASKS:
            return "firing", ""
        is_up = detail.lastStatus == "RUNNING"
        return ("resolved", "") if is_up else ("other", f"state {detail.lastStatus[:60]}")
    if detail.eventType == "INFO" and detail.eventName:
        is_done = detail.eventName.endswith(_ENDS_WELL)
        return ("resolved", "") if is_done else ("other", f"event {detail.eventName[:60]}")
    return "firing", ""


def _name_weight(word: str) -> Mapping[str, Severity]:
    """The weight of a finding as a number, as GuardDuty has it: 1 is low, 9 is critical."""
    if not re.fullmatch(r"\d{1,2}(\.\d{1,2})?", word, re.ASCII):
        return {}
    return {word: next(name for least, name in _WEIGHTS if float(word) >= least)}


def _read_finding(body: dict[str, JSON]) -> AlertReading:
    """One finding of Security Hub; it is over once somebody has settled it, or it is archived."""
    finding = Finding.model_validate(body)
    is_settled = finding.Workflow.Status in ("RESOLVED", "SUPPRESSED")
    is_over = is_settled or finding.RecordState == "ARCHIVED"
    # A finding that comes back has the time of its creation still.
    changed = finding.UpdatedAt or finding.CreatedAt
    return make_alert(
        "resolved" if is_over else "firing",
        key=finding.Id,
        titles=(finding.Title,),
        severity=finding.Severity.Label,
        service=finding.ProductName,
        labels={"account": finding.AwsAccountId, "product": finding.ProductName},
        links=Links(alert=finding.SourceUrl),
        starts_at=None if is_over else changed,
        ends_at=finding.UpdatedAt if is_over else None,
        body=body,
    )


def _texts(body: Mapping[str, JSON]) -> tuple[str, ...]:
    listed = body.get("resources")
    return tuple(map(read_text, listed)) if isinstance(listed, list) else ()


SNS = Source(
    name="aws_sns",
    label="Amazon SNS and CloudWatch",
    signs=(
        ("Type", "MessageId", "TopicArn"),
        ("TopicArn", "Message"),
        # Raw delivery leaves the envelope out.
        ("header:x-amz-sns-message-type",),
        ("AlarmName", "NewStateValue"),
    ),
    least=("Message",),
    expects="an SNS envelope with `Type`, `TopicArn` and `Message`, or a CloudWatch alarm with "
    "`AlarmName` and `NewStateValue`",
    read=read_sns,
)
EVENTBRIDGE = Source(
    name="aws_eventbridge",
    label="Amazon EventBridge",
    signs=(("detail-type", "source", "detail"),),
    least=("detail{}",),
    expects="an object with `detail-type`, `source` and `detail`",
    read=read_eventbridge,
)
