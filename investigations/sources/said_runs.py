"""Runs of jobs in forms of their own: how a run ended, and of which job it is.

A run has another number the next time, so that its job is what has a state. So have the events of
a check and the findings of a rule. Each form is read as a whole or not at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from investigations.sources.document_ids import FoundKey
from investigations.sources.fields import as_object, read_text, read_texts
from investigations.sources.kinds import find_words
from investigations.sources.reading import JSON, key_of_labels, name_and_told
from investigations.sources.telling import fold

_UNDER_WAY = frozenset({
    "created", "pending", "waiting", "running", "preparing", "scheduled", "waiting_for_resource",
})  # fmt: skip
_OF_PLANS: Mapping[str, str] = {
    **dict.fromkeys(("run:created", "run:planning", "run:applying"), "acknowledged"),
    "run:errored": "failed",
    "verification": "verification",
}
"""What has set off a notification of Terraform."""
_PLANS_WELL = frozenset({"applied", "planned_and_finished"})
_SAYS_NOTHING = frozenset({
    "canceled", "cancelled", "canceling", "force_canceled", "discarded", "skipped", "manual",
    "aborted",
})  # fmt: skip


_JOBS = frozenset({"job", "jobname", "pipeline", "pipelinename"})
_NUMBERS = frozenset({"build", "buildnumber", "buildid", "number", "runnumber"})
_RESULTS = frozenset({"result", "status", "buildresult", "buildstatus", "currentresult"})
_OF_STEP = _JOBS | _NUMBERS | _RESULTS | {
    "project", "branch", "env", "url", "buildurl", "duration", "time", "timestamp", "commit",
    "node",
}  # fmt: skip


@dataclass(frozen=True)
class SaidRun:
    """`word` is one for a state; empty where the usual fields of the post tell it."""

    word: str
    key: FoundKey | None
    title: str = ""
    """Empty where the post has a better one."""

    @property
    def says_nothing(self) -> bool:
        """Whether it has not run to its end: what the one before has found is as true as it was."""
        return self.word.lower() in _SAYS_NOTHING


def find_run(body: Mapping[str, JSON]) -> SaidRun | None:
    """The run that a document is about, if it has one of the known forms."""
    forms = (
        _read_dbt, _read_playbook, _read_plan, _read_build, _read_workflow, _read_pipeline,
        _read_analysis, _read_canary, _read_deployment, _read_job, _read_step, _read_check,
        _read_rule, _read_execution,
    )  # fmt: skip
    return next((run for form in forms if (run := form(body))), None)


def words_of_run(run: SaidRun) -> list[str]:
    """The words for a state in what a run is told to be."""
    return list(find_words(run.word, is_state=True))


def _key(
    form: str, body: Mapping[str, JSON], *paths: str, also: tuple[str, ...] = ()
) -> FoundKey | None:
    """The name of the form and what stands at all of these places; none where one of `paths` is
    empty. Those in `also` some posts lack."""
    told = {path: text for path in (*paths, *also) if (text := _at(body, path))}
    if not told.keys() >= set(paths):
        return None
    return FoundKey(f"{form} {key_of_labels(told)}", tuple(told))


def _at(body: Mapping[str, JSON], path: str) -> str:
    *parents, name = path.split(".")
    for parent in parents:
        body = as_object(body.get(parent))
    return read_text(body.get(name))


def _read_dbt(body: Mapping[str, JSON]) -> SaidRun | None:
    """A run of a job. That it is complete does not say how it ended."""
    kind, run = read_text(body.get("eventType")), as_object(body.get("data"))
    if not kind.startswith("job.run.") or not {"jobId", "runId", "runStatus"} <= run.keys():
        return None
    words = {"job.run.started": "acknowledged", "job.run.completed": read_text(run["runStatus"])}
    return SaidRun(words.get(kind, ""), _key("dbt", body, "data.jobId", also=("accountId",)))


def _read_playbook(body: Mapping[str, JSON]) -> SaidRun | None:
    """A job of AWX; of one that has not ended, the moment of its end is empty."""
    if not {"name", "playbook", "inventory", "started", "finished", "status"} <= body.keys():
        return None
    status, finished = read_text(body["status"]).lower(), read_text(body["finished"])
    key = _key("awx", body, "name", "inventory", also=("project", "playbook", "limit"))
    if status in _SAYS_NOTHING:
        return SaidRun(status, key)
    is_under_way = status in _UNDER_WAY and not finished
    return SaidRun("acknowledged" if is_under_way else "", key)


def _read_plan(body: Mapping[str, JSON]) -> SaidRun | None:
    """A run of Terraform, of which the first notification says what became of it, unless another
    says that it failed. What an assessment finds is no run."""
    members = body.get("notifications")
    if not isinstance(members, list) or not {"run_id", "run_url", "workspace_id"} <= body.keys():
        return None
    words = [_word_of_plan(as_object(each)) for each in members]
    word = next((each for each in words if each == "failed"), words[0] if words else "")
    trigger = read_text(as_object(members[0]).get("trigger")) if members else ""
    form = "terraform" if trigger.startswith("run:") else f"terraform {trigger}"
    return SaidRun(word, _key(form, body, "workspace_id"))


def _word_of_plan(told: Mapping[str, JSON]) -> str:
    trigger, status = read_text(told.get("trigger")), read_text(told.get("run_status"))
    if trigger in ("run:completed", "run:errored") and status in _SAYS_NOTHING:
        return status
    if trigger == "run:completed" and status in _PLANS_WELL:
        return "done"
    return _OF_PLANS.get(trigger, "")


def _read_build(body: Mapping[str, JSON]) -> SaidRun | None:
    """A build of Azure DevOps. That it is complete does not say how it ended."""
    run = as_object(body.get("resource"))
    is_told = {"buildNumber", "definition", "result"} <= run.keys()
    if body.get("eventType") != "build.complete" or not is_told:
        return None
    project = ("resource.project.id", "resourceContainers.project.id")
    also = ("resource.sourceBranch", *project)
    return SaidRun(
        read_text(run["result"]),
        _key("azure_devops", body, "resource.definition.id", also=also),
    )


def _read_workflow(body: Mapping[str, JSON]) -> SaidRun | None:
    """A workflow of CircleCI, on its branch or tag."""
    if body.get("type") != "workflow-completed":
        return None
    own, vcs = ("project.slug", "workflow.name"), "pipeline.vcs"
    key = _key("circleci", body, *own, f"{vcs}.branch") or _key(
        "circleci", body, *own, f"{vcs}.tag"
    )
    return SaidRun(_at(body, "workflow.status"), key)


def _read_pipeline(body: Mapping[str, JSON]) -> SaidRun | None:
    """A pipeline of GitLab, on its branch or tag. That of a merge request or of a schedule
    runs other jobs on the same branch."""
    run = as_object(body.get("object_attributes"))
    if body.get("object_kind") != "pipeline" or not {"id", "ref", "status"} <= run.keys():
        return None
    status = read_text(run["status"])
    kind = "gitlab tag" if run.get("tag") is True else "gitlab"
    also = ("object_attributes.source", "merge_request.iid")
    key = _key(kind, body, "project.path_with_namespace", "object_attributes.ref", also=also)
    return SaidRun("acknowledged" if status in _UNDER_WAY else status, key)


def _read_analysis(body: Mapping[str, JSON]) -> SaidRun | None:
    """An analysis of SonarQube. It succeeds also where the gate is not passed."""
    gate = as_object(body.get("qualityGate"))
    if not {"status", "analysedAt", "project"} <= body.keys() or "status" not in gate:
        return None
    key = _key("sonarqube", body, "project.key", also=("branch.name", "branch.type", "serverUrl"))
    return SaidRun(read_text(gate["status"]), key)


def _read_canary(body: Mapping[str, JSON]) -> SaidRun | None:
    """A canary of Flagger."""
    told = as_object(body.get("metadata"))
    is_told = {"name", "namespace", "phase"} <= body.keys()
    if not is_told or not {"eventMessage", "eventType"} <= told.keys():
        return None
    phase = read_text(body["phase"])
    is_ended = phase in ("Failed", "Succeeded")
    return SaidRun(
        phase if is_ended else "acknowledged", _key("flagger", body, "namespace", "name")
    )


def _read_job(body: Mapping[str, JSON]) -> SaidRun | None:
    """A job of a pipeline of GitLab, on its branch or tag."""
    if body.get("object_kind") != "build" or not {"build_name", "build_status"} <= body.keys():
        return None
    status = read_text(body["build_status"])
    kind = "gitlab job of tag" if body.get("tag") is True else "gitlab job"
    key = _key(kind, body, "project_id", "ref", "build_name", also=("build_stage",))
    title = name_and_told(read_text(body["build_name"]), read_text(body.get("project_name")))
    return SaidRun("acknowledged" if status in _UNDER_WAY else status, key, title)


def _read_step(body: Mapping[str, JSON]) -> SaidRun | None:
    """What somebody's step of a build posts: its job, its number and how it ended, and all else
    that it may tell is of the build."""
    told = {fold(name): text for name, value in body.items() if (text := read_text(value))}
    jobs, results = told.keys() & _JOBS, told.keys() & _RESULTS
    is_told = len(jobs) == 1 and len(results) == 1 and not told.keys().isdisjoint(_NUMBERS)
    if not is_told or len(told) < len(body) or not told.keys() <= _OF_STEP:
        return None
    job = {name: told[name] for name in (*jobs, "project", "branch", "env") if name in told}
    key = FoundKey(f"build {key_of_labels(job)}", tuple(job))
    return SaidRun(told[next(iter(results))], key)


def _read_check(body: Mapping[str, JSON]) -> SaidRun | None:
    """A check of Sensu, whose events have an id each. The check says itself how it went."""
    own = ("entity.metadata.name", "check.metadata.name")
    if "id" not in body or not all(_at(body, each) for each in own):
        return None
    return SaidRun("", _key("sensu", body, *own, also=("check.metadata.namespace",)))


def _read_rule(body: Mapping[str, JSON]) -> SaidRun | None:
    """What a rule of Wazuh has found by an agent: each time it has another number."""
    own = ("agent.id", "rule.id")
    if not {"agent", "manager", "rule"} <= body.keys() or not all(_at(body, each) for each in own):
        return None
    return SaidRun("", _key("wazuh", body, *own, also=("manager.name",)))


def _read_execution(body: Mapping[str, JSON]) -> SaidRun | None:
    """An execution of a job of Rundeck."""
    if not {"trigger", "status", "executionId", "execution"} <= body.keys():
        return None
    status = read_text(body["status"])
    key = _key("rundeck", body, "execution.job.id", also=("execution.project",))
    return SaidRun("acknowledged" if status in _UNDER_WAY else status, key)


def _read_deployment(body: Mapping[str, JSON]) -> SaidRun | None:
    """A deployment of Octopus to its environment, which may be told."""
    kind = _at(body, "Payload.Event.Category")
    words = {"DeploymentFailed": "failed", "DeploymentSucceeded": "succeeded"}
    if body.get("EventType") != "SubscriptionPayload" or kind not in words:
        return None
    event = as_object(as_object(body.get("Payload")).get("Event"))
    related = read_texts(event.get("RelatedDocumentIds"))
    where = sorted(each for each in related if each.startswith(("Environments-", "Tenants-")))
    form, own = " ".join(("octopus", *where)), "Payload.Event.ProjectId"
    return SaidRun(words[kind], _key(form, body, own, also=("Payload.ServerUri",)))
