"""Azure Monitor: the common schema, and the older ones for metrics, logs and activities."""

from collections.abc import Mapping

from investigations.sources.fields import (
    Labels,
    Moment,
    Part,
    Text,
    Texts,
    Url,
    as_object,
    read_url,
)
from investigations.sources.reading import (
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    all_of,
    make_alert,
    name_and_told,
)
from investigations.sources.severity import Severity
from investigations.sources.signs import Source

_SEVERITIES: Mapping[str, Severity] = {
    "sev0": "critical", "0": "critical", "sev1": "high", "1": "high", "sev2": "warning",
    "2": "warning", "sev3": "info", "3": "info", "sev4": "info", "4": "info",
}  # fmt: skip
_STATES: Mapping[str, State] = {
    "fired": "firing", "activated": "firing", "resolved": "resolved", "deactivated": "resolved",
}  # fmt: skip
_TEST = "/subscriptions/11111111-1111-1111-1111-111111111111/"
"""The subscription in the posts of the button that tests an action group."""


class Essentials(Part):
    alertId: Text = ""
    originAlertId: Text = ""
    alertRule: Text = ""
    severity: Text = ""
    monitorCondition: Text = ""
    description: Text = ""
    alertTargetIDs: Texts = ()
    configurationItems: Texts = ()
    targetResourceGroup: Text = ""
    monitoringService: Text = ""
    firedDateTime: Moment = None
    resolvedDateTime: Moment = None
    investigationLink: Url = ""


class ResourceEssentials(Part):
    """Those of an alert as a resource of Azure, as smart detectors post it."""

    alertRule: Text = ""
    severity: Text = ""
    monitorCondition: Text = ""
    monitorService: Text = ""
    description: Text = ""
    targetResourceName: Text = ""
    targetResourceGroup: Text = ""
    startDateTime: Moment = None
    monitorConditionResolvedDateTime: Moment = None


class ResourceProperties(Part):
    essentials: ResourceEssentials = ResourceEssentials()


class AlertResource(Part):
    id: Text = ""
    name: Text = ""
    properties: ResourceProperties = ResourceProperties()


class AlertContext(Part):
    """Only that of managed Prometheus has labels and annotations."""

    labels: Labels = {}
    annotations: Labels = {}


class CommonData(Part):
    essentials: Essentials = Essentials()
    alertContext: AlertContext = AlertContext()
    customProperties: Labels = {}


class Activity(Part):
    operationName: Text = ""
    eventSource: Text = ""
    level: Text = ""
    status: Text = ""
    resourceId: Text = ""
    correlationId: Text = ""
    eventTimestamp: Moment = None
    properties: Labels = {}


class Context(Part):
    id: Text = ""
    name: Text = ""
    description: Text = ""
    severity: Text = ""
    timestamp: Moment = None
    resourceId: Text = ""
    resourceName: Text = ""
    resourceGroupName: Text = ""
    portalLink: Url = ""
    activityLog: Activity = Activity()


class OlderData(Part):
    status: Text = ""
    operation: Text = ""
    context: Context = Context()
    properties: Labels = {}


class LogData(Part):
    AlertRuleName: Text = ""
    Description: Text = ""
    Severity: Text = ""
    SearchIntervalEndtimeUtc: Moment = None
    LinkToSearchResults: Url = ""
    SubscriptionId: Text = ""
    WorkspaceId: Text = ""
    ApplicationId: Text = ""


def read(post: Post) -> Reading:
    body = as_object(post.body)
    data = as_object(body.get("data"))
    if "essentials" in data:
        alert = _read_common(post, CommonData.model_validate(data))
    elif "AlertRuleName" in data:
        alert = _read_log(post, LogData.model_validate(data))
    elif "essentials" in as_object(body.get("properties")):
        alert = _read_resource(post, AlertResource.model_validate(body))
    else:
        # The oldest have no envelope.
        alert = _read_older(post, OlderData.model_validate(data or body))
    return Reading(source="azure_monitor", alerts=(alert,))


def _read_common(post: Post, data: CommonData) -> AlertReading:
    told = data.essentials
    state = _STATES.get(told.monitorCondition.lower(), "firing")
    is_test = told.alertId.startswith(_TEST)
    named = {
        "resource": ", ".join(told.configurationItems),
        "resource_group": told.targetResourceGroup,
        "monitoring_service": told.monitoringService,
    }
    return make_alert(
        "test" if is_test else state,
        key=told.alertId or told.originAlertId,
        titles=(name_and_told(told.alertRule, told.description), *told.configurationItems),
        severity=told.severity,
        severities=_SEVERITIES,
        labels={**named, **data.alertContext.labels, **data.customProperties},
        links=Links(
            alert=told.investigationLink,
            runbook=read_url(data.alertContext.annotations.get("runbook_url")),
        ),
        starts_at=told.firedDateTime,
        ends_at=told.resolvedDateTime if state == "resolved" else None,
        body=post.body,
    )


def _read_resource(post: Post, resource: AlertResource) -> AlertReading:
    told = resource.properties.essentials
    state = _STATES.get(told.monitorCondition.lower(), "firing")
    name = resource.name or told.alertRule.rpartition("/")[2]
    return make_alert(
        state,
        key=resource.id,
        titles=(name_and_told(name, told.description), told.targetResourceName),
        severity=told.severity,
        severities=_SEVERITIES,
        labels={
            "resource": told.targetResourceName,
            "resource_group": told.targetResourceGroup,
            "monitoring_service": told.monitorService,
        },
        starts_at=told.startDateTime,
        ends_at=told.monitorConditionResolvedDateTime if state == "resolved" else None,
        body=post.body,
    )


def _read_older(post: Post, data: OlderData) -> AlertReading:
    told, activity = data.context, data.context.activityLog
    state = _state_of(data)
    name = told.name or activity.properties.get("title", "") or activity.operationName
    what = told.resourceId or activity.resourceId or told.resourceName
    return make_alert(
        state,
        reason=f"autoscale: {data.operation}" if state == "other" else "",
        key=_key_of_older(told, what),
        titles=(name_and_told(name, told.description), what, data.operation),
        severity=told.severity or activity.level,
        severities=_SEVERITIES,
        labels={
            "resource": told.resourceName or what,
            "resource_group": told.resourceGroupName,
            **data.properties,
        },
        links=Links(alert=told.portalLink),
        starts_at=(told.timestamp or activity.eventTimestamp) if state == "firing" else None,
        ends_at=told.timestamp if state == "resolved" else None,
        body=post.body,
    )


def _state_of(data: OlderData) -> State:
    if data.operation and not data.status:
        return "other"
    activity = data.context.activityLog
    if "resolved" in (activity.properties.get("stage", "").lower(), activity.status.lower()):
        return "resolved"
    return _STATES.get(data.status.lower(), "firing")


def _key_of_older(told: Context, what: str) -> str:
    activity = told.activityLog
    incident = activity.properties.get("trackingId") or activity.correlationId
    return incident or " ".join(each for each in (told.id or told.name, what) if each)


def _read_log(post: Post, told: LogData) -> AlertReading:
    """A search of logs. It has no state and is never told to be over."""
    place = told.WorkspaceId or told.ApplicationId or told.SubscriptionId
    return make_alert(
        "firing",
        key=all_of(place, told.AlertRuleName),
        titles=(name_and_told(told.AlertRuleName, told.Description),),
        severity=told.Severity,
        severities=_SEVERITIES,
        links=Links(alert=told.LinkToSearchResults),
        starts_at=told.SearchIntervalEndtimeUtc,
        tells_end=False,
        body=post.body,
    )


SOURCE = Source(
    name="azure_monitor",
    label="Azure Monitor",
    signs=(
        ("schemaId", "data"),
        ("data.essentials.alertId",),
        ("properties.essentials.monitorCondition", "id", "name"),
        ("status", "context.name", "context.condition"),
        ("status", "context.activityLog"),
        ("operation", "context.resourceId", "status"),
    ),
    expects="an object with `schemaId` and `data`",
    read=read,
)
