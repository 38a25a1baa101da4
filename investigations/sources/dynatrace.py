"""Dynatrace: the body is a template whose places the user names."""

from collections.abc import Mapping

from pydantic import AliasChoices, Field

from investigations.sources.fields import Labels, Moment, Part, Text, Url, fold_names
from investigations.sources.reading import (
    Links,
    Post,
    Reading,
    State,
    make_alert,
)
from investigations.sources.severity import Severity
from investigations.sources.signs import Source

_STATES: Mapping[str, tuple[State, str]] = {
    "open": ("firing", ""),
    "resolved": ("resolved", ""),
    "active": ("firing", ""),
    "closed": ("resolved", ""),
    "merged": ("resolved", "merged into another problem"),
}
_SEVERITIES: Mapping[str, Severity] = {
    "availability": "critical",
    "error": "high",
    "performance": "warning",
    "resource_contention": "warning",
    "resource": "warning",
    "custom_alert": "warning",
    "custom": "warning",
    "monitoring_unavailable": "warning",
    "info": "info",
}
_TEST_IDS = ("999", "TESTID")
"""What Dynatrace puts into the places when somebody tests the notification."""


class Problem(Part):
    """A problem, one of security, whose places are called otherwise, or the event of a problem as
    workflows have it: its `event.id` is the `PID` of the others."""

    pid: Text = Field("", validation_alias=AliasChoices("pid", "event_id"))
    problemid: Text = Field(
        "", validation_alias=AliasChoices("problemid", "securityproblemid", "display_id")
    )
    problemtitle: Text = Field("", validation_alias=AliasChoices("problemtitle", "event_name"))
    title: Text = ""
    state: Text = Field("", validation_alias=AliasChoices("state", "event_status"))
    problemseverity: Text = Field(
        "", validation_alias=AliasChoices("problemseverity", "severity", "event_category")
    )
    start: Moment = Field(None, validation_alias=AliasChoices("event_start"))
    end: Moment = Field(None, validation_alias=AliasChoices("event_end"))
    problemimpact: Text = ""
    problemurl: Url = Field("", validation_alias=AliasChoices("problemurl", "securityproblemurl"))
    problem_url: Url = ""
    impactedentity: Text = ""
    tags: Labels = {}


def read(post: Post) -> Reading:
    problem = Problem.model_validate(fold_names(post.body))
    state, reason = _STATES.get(problem.state.lower(), ("firing", ""))
    is_test = problem.problemid in _TEST_IDS or problem.pid in _TEST_IDS
    alert = make_alert(
        "test" if is_test else state,
        reason="" if is_test else reason,
        key=problem.pid or problem.problemid,
        titles=(problem.problemtitle, problem.title, problem.problemid),
        severity=problem.problemseverity,
        severities=_SEVERITIES,
        service=problem.impactedentity,
        labels={
            **problem.tags,
            "impact": problem.problemimpact,
            "problem": problem.problemid,
        },
        links=Links(alert=problem.problemurl or problem.problem_url),
        starts_at=problem.start if state == "firing" else None,
        ends_at=problem.end if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="dynatrace", alerts=(alert,))


SOURCE = Source(
    name="dynatrace",
    label="Dynatrace",
    signs=(
        ("ProblemID", "State"),
        ("ProblemTitle", "State"),
        ("PID", "ProblemTitle"),
        ("ProblemID", "ProblemTitle"),
        ("SecurityProblemId",),
        ("event.kind", "event.status", "event.name"),
    ),
    expects="an object with `PID`, `State` and `ProblemTitle`, as the template of the "
    "notification says",
    read=read,
    is_template=True,
)
