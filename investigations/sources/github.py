"""GitHub: failed workflows, checks and deployments, and the alerts of its scanners."""

from collections.abc import Callable, Mapping

from investigations.sources.fields import Moment, Object, Part, Text, Url, as_object, read_text
from investigations.sources.reading import (
    JSON,
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    all_of,
    make_alert,
)
from investigations.sources.severity import Severity
from investigations.sources.signs import Source

_CONCLUSIONS: Mapping[str, State] = {
    "failure": "firing",
    "timed_out": "firing",
    "startup_failure": "firing",
    "error": "firing",
    "success": "resolved",
}
_CREATED = ("created", "create")
_ACTIONS: Mapping[str, State] = {
    **dict.fromkeys(
        (*_CREATED, "reopened", "reopened_by_user", "auto_reopened", "reintroduced",
         "publicly_leaked"),
        "firing",
    ),
    **dict.fromkeys(
        ("resolved", "fixed", "resolve", "closed_by_user", "dismissed", "dismiss",
         "auto_dismissed", "revoked"),
        "resolved",
    ),
}  # fmt: skip
_SEVERITIES: Mapping[str, Severity] = {"moderate": "warning", "note": "info"}


class Repository(Part):
    full_name: Text = ""


class Run(Part):
    """A run of a workflow, or of one check."""

    name: Text = ""
    status: Text = ""
    conclusion: Text = ""
    head_branch: Text = ""
    head_sha: Text = ""
    html_url: Url = ""
    display_title: Text = ""
    started_at: Moment = None
    run_started_at: Moment = None
    completed_at: Moment = None
    updated_at: Moment = None
    check_suite: Object = {}


class DeploymentStatus(Part):
    state: Text = ""
    description: Text = ""
    environment: Text = ""
    log_url: Url = ""
    target_url: Url = ""
    created_at: Moment = None


class Rule(Part):
    id: Text = ""
    description: Text = ""
    severity: Text = ""
    security_severity_level: Text = ""


class Advisory(Part):
    summary: Text = ""
    severity: Text = ""


class Package(Part):
    name: Text = ""


class Dependency(Part):
    package: Package = Package()


class ScanAlert(Part):
    number: Text = ""
    html_url: Url = ""
    created_at: Moment = None
    updated_at: Moment = None
    fixed_at: Moment = None
    resolved_at: Moment = None
    dismissed_at: Moment = None
    rule: Rule = Rule()
    security_advisory: Advisory = Advisory()
    dependency: Dependency = Dependency()
    secret_type: Text = ""
    secret_type_display_name: Text = ""


def read(post: Post) -> Reading:
    body = as_object(post.body)
    kind = post.headers.get("x-github-event") or _kind_of(body)
    delivery = post.headers.get("x-github-delivery", "")
    if kind == "ping":
        return Reading(source="github", notice="test notification: ping", delivery_id=delivery)
    reader = _READERS.get(kind)
    if reader is None:
        told = f"{kind or 'this'} event is about no alert; subscribe to {', '.join(_READERS)}"
        return Reading(source="github", notice=told, delivery_id=delivery)
    repository = Repository.model_validate(body.get("repository")).full_name
    alert = reader(body, kind, repository)
    return Reading(source="github", alerts=(alert,), delivery_id=delivery)


def _kind_of(body: Mapping[str, object]) -> str:
    """Without the header the event is told by what it carries."""
    if "zen" in body and "hook_id" in body:
        return "ping"
    alert = as_object(body.get("alert"))
    for mark, kind in _MARKS.items():
        if mark in alert:
            return kind
    return next((kind for kind in _READERS if kind in body), "")


def _read_run(body: dict[str, JSON], kind: str, repository: str) -> AlertReading:
    run = Run.model_validate(body.get(kind))
    branch = run.head_branch or read_text(run.check_suite.get("head_branch"))
    # A run that is asked for again still has the conclusion of its last time.
    is_over = read_text(body.get("action")) in ("completed", "")
    state = _CONCLUSIONS.get(run.conclusion, "other") if is_over else "other"
    name = run.name or read_text(as_object(body.get("workflow")).get("name"))
    which = all_of(repository, kind, name)
    place = f" on {branch}" if branch else ""
    return make_alert(
        state,
        reason=f"{run.status} {run.conclusion}".strip() if state == "other" else "",
        key=f"{which} {branch}".strip() if which else "",
        titles=(
            f"{name} failed{place} of {repository}"
            if state == "firing"
            else f"{name}{place} of {repository}",
        ),
        severity="",
        service=repository,
        labels={
            "repository": repository,
            "workflow": name,
            "branch": branch,
            "conclusion": run.conclusion,
            "commit": run.head_sha,
        },
        links=Links(alert=run.html_url),
        starts_at=(run.run_started_at or run.started_at) if state == "firing" else None,
        ends_at=(run.completed_at or run.updated_at) if state == "resolved" else None,
        body=body,
    )


def _read_deployment(body: dict[str, JSON], kind: str, repository: str) -> AlertReading:
    told = DeploymentStatus.model_validate(body.get(kind))
    deployment = DeploymentStatus.model_validate(body.get("deployment"))
    environment = told.environment or deployment.environment
    state = _CONCLUSIONS.get(told.state, "other")
    where = f"{repository} to {environment}"
    return make_alert(
        state,
        reason=f"deployment {told.state}" if state == "other" else "",
        key=all_of(repository, "deployment", environment),
        titles=(
            f"Deployment of {where} failed" if state == "firing" else f"Deployment of {where}",
        ),
        service=repository,
        labels={"repository": repository, "environment": environment, "state": told.state},
        links=Links(alert=told.log_url or told.target_url),
        starts_at=told.created_at if state == "firing" else None,
        ends_at=told.created_at if state == "resolved" else None,
        body=body,
    )


def _read_scan(body: dict[str, JSON], kind: str, repository: str) -> AlertReading:
    alert = ScanAlert.model_validate(body.get("alert"))
    action = read_text(body.get("action"))
    state = _ACTIONS.get(action, "other")
    # One that comes back has the time of its creation still.
    begins = alert.created_at if action in _CREATED else alert.updated_at
    advisory, rule = alert.security_advisory, alert.rule
    secret = alert.secret_type_display_name or alert.secret_type
    package = alert.dependency.package.name
    return make_alert(
        state,
        reason=f"{action} is no new alert" if state == "other" else "",
        key=all_of(repository, kind, alert.number),
        titles=(
            rule.description,
            f"{package}: {advisory.summary}" if package and advisory.summary else advisory.summary,
            f"Secret found: {secret}" if secret else "",
            f"{kind} {alert.number} of {repository}",
        ),
        severity=advisory.severity or rule.security_severity_level or rule.severity,
        severities=_SEVERITIES,
        service=repository,
        labels={
            "repository": repository,
            "rule": rule.id,
            "package": package,
            "secret_type": secret,
        },
        links=Links(alert=alert.html_url),
        starts_at=begins if state == "firing" else None,
        ends_at=(alert.fixed_at or alert.resolved_at or alert.dismissed_at)
        if state == "resolved"
        else None,
        body=body,
    )


_READERS: Mapping[str, Callable[[dict[str, JSON], str, str], AlertReading]] = {
    "workflow_run": _read_run,
    "check_run": _read_run,
    "deployment_status": _read_deployment,
    "code_scanning_alert": _read_scan,
    "secret_scanning_alert": _read_scan,
    "dependabot_alert": _read_scan,
}
_MARKS: Mapping[str, str] = {
    "secret_type": "secret_scanning_alert",
    "security_advisory": "dependabot_alert",
    "rule": "code_scanning_alert",
}

SOURCE = Source(
    name="github",
    label="GitHub",
    signs=(
        ("header:x-github-event",),
        ("workflow_run", "repository"),
        ("check_run", "repository"),
        ("deployment_status", "repository"),
        ("alert.rule", "repository", "action"),
        ("alert.secret_type", "repository", "action"),
        ("alert.security_advisory", "repository", "action"),
        ("zen", "hook_id"),
    ),
    expects="an event with the header X-GitHub-Event",
    read=read,
)
