"""Elasticsearch's Watcher and Kibana's rules. The body of either is a template of the user's."""

from pydantic import Field

from investigations.sources.fields import (
    Labels,
    Members,
    Moment,
    Part,
    Text,
    Texts,
    Url,
    as_object,
)
from investigations.sources.reading import (
    JSON,
    Links,
    Post,
    Reading,
    State,
    make_alert,
    name_and_told,
)
from investigations.sources.severity import normalise
from investigations.sources.signs import Source
from investigations.sources.telling import fold


class HitSource(Part):
    message: Text = ""


class Hit(Part):
    source: HitSource = Field(HitSource(), validation_alias="_source")


class Hits(Part):
    hits: Members = ()


class Payload(Part):
    hits: Hits = Hits()


class Watch(Part):
    watch_id: Text = ""
    watch_execution_id: Text = ""
    id: Text = ""
    execution_time: Moment = None
    metadata: Labels = {}
    payload: Payload = Payload()
    message: Text = ""


class Rule(Part):
    id: Text = ""
    name: Text = ""
    tags: Texts = ()
    url: Url = ""
    type: Text = ""
    severity: Text = ""


class Instance(Part):
    id: Text = ""
    uuid: Text = ""
    actionGroup: Text = ""


class Context(Part):
    rule: Rule = Rule()
    """Only in rules of security."""
    reason: Text = ""
    message: Text = ""
    title: Text = ""
    severity: Text = ""
    group: Text = ""
    alertDetailsUrl: Url = ""
    viewInAppUrl: Url = ""


class Summary(Part):
    count: Text = ""


class Alerts(Part):
    new: Summary = Summary()
    ongoing: Summary = Summary()
    recovered: Summary = Summary()


class RuleNotification(Part):
    rule: Rule = Rule()
    alert: Instance = Instance()
    alerts: Alerts = Alerts()
    context: Context = Context()
    date: Moment = None
    severity: Text = ""
    spaceId: Text = ""


def read_watch(post: Post) -> Reading:
    body = as_object(post.body)
    watch = Watch.model_validate(body.get("ctx") if "watch_id" not in body else body)
    name = watch.watch_id or watch.id or watch.metadata.get("name", "")
    alert = make_alert(
        "firing",
        key=name,
        titles=(name_and_told(name, watch.message or _first_hit(watch)),),
        severity=watch.metadata.get("severity", ""),
        labels=watch.metadata,
        starts_at=watch.execution_time,
        tells_end=False,
        body=post.body,
    )
    return Reading(source="elastic_watcher", alerts=(alert,), delivery_id=watch.watch_execution_id)


def _first_hit(watch: Watch) -> str:
    hits = watch.payload.hits.hits
    return Hit.model_validate(hits[0]).source.message if hits else ""


def read_rule(post: Post) -> Reading:
    told = RuleNotification.model_validate(_with_newer_names(as_object(post.body)))
    rule, context = told.rule, told.context
    state: State = "resolved" if _is_recovered(told) else "firing"
    instance = told.alert.id
    what = context.reason or context.message or context.title
    key = " ".join(each for each in (rule.id or rule.name, instance) if each)
    alert = make_alert(
        state,
        key=key,
        titles=(name_and_told(rule.name, what), instance),
        severity=context.severity
        or context.rule.severity
        or rule.severity
        or told.severity
        or _level_of(told.alert),
        service=instance,
        labels={
            **{tag: tag for tag in rule.tags},
            "instance": instance,
            "rule_type": rule.type,
        },
        links=Links(alert=context.alertDetailsUrl or context.viewInAppUrl or rule.url),
        starts_at=told.date if state == "firing" else None,
        ends_at=told.date if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="kibana", alerts=(alert,))


def _with_newer_names(body: dict[str, JSON]) -> dict[str, JSON]:
    """Before version 8 a rule was called an alert, and an alert an instance of it. Where both are
    named, an alert is what it is now. Templates write these names as they like."""
    told = {fold(name): value for name, value in body.items()}
    if told.keys().isdisjoint(("alertname", "alertinstanceid", "rulename", "ruleid")):
        return body
    has_rule = "rulename" in told or "ruleid" in told
    rule: JSON = {
        "id": told.get("ruleid" if has_rule else "alertid"),
        "name": told.get("rulename") or told.get("alertname"),
        "tags": told.get("tags"),
    }
    instance = told.get("alertinstanceid") or (told.get("alertid") if has_rule else None)
    group = told.get("alertactiongroup") or told.get("actiongroup")
    alert: JSON = {"id": instance, "actionGroup": group}
    context: JSON = {"message": told.get("message"), "reason": told.get("reason")}
    return {"rule": rule, "alert": alert, "context": context, **body}


def _level_of(alert: Instance) -> str:
    """The last word of a group such as `metrics.threshold.warning`, where it names a level."""
    word = alert.actionGroup.rpartition(".")[2]
    return "" if normalise(word, {}) == "unknown" else word


def _is_recovered(told: RuleNotification) -> bool:
    if told.alert.actionGroup:
        return told.alert.actionGroup == "recovered"
    # A summary of all alerts of the rule.
    is_any_left = any(
        each.count not in ("", "0") for each in (told.alerts.new, told.alerts.ongoing)
    )
    return not is_any_left and told.alerts.recovered.count not in ("", "0")


WATCHER = Source(
    name="elastic_watcher",
    label="Elasticsearch Watcher",
    signs=(
        ("watch_id", "payload"),
        ("watch_id", "execution_time"),
        ("watch_id", "trigger"),
        ("ctx.watch_id",),
        ("ctx.payload", "ctx.execution_time"),
    ),
    expects="an object with `watch_id`, as the body of the watch's webhook action says",
    read=read_watch,
    is_template=True,
)
KIBANA = Source(
    name="kibana",
    label="Kibana",
    signs=(
        ("rule.id", "alert.id"),
        ("rule.name", "alert.actionGroup"),
        ("rule.name", "context", "date"),
        ("rule.id", "alerts{}"),
        ("rule.name", "kibanaBaseUrl"),
        ("alertName", "alertInstanceId"),
        ("ruleName", "alertId", "alertActionGroup"),
        ("ruleName", "alertId", "actionGroup"),
        ("rule_name", "alert_id", "action_group"),
        ("rule_name", "alert_id", "alert_action_group"),
    ),
    expects="an object with `rule` and `alert`, as the body of the rule's action says",
    read=read_rule,
    is_template=True,
)
