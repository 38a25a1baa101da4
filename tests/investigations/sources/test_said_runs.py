"""Of a job, only a run of the same job that has come to its end says that it is well again."""

from collections.abc import Mapping

import pytest

from investigations.sources.reading import AlertReading, Post
from investigations.sources.registry import read_post


def read(body: Mapping[str, object]) -> AlertReading:
    return read_post(Post(dict(body))).alerts[0]  # type: ignore[arg-type]  # JSON, as written below


def azure(result: str, branch: str = "refs/heads/main", project: str = "p1") -> dict[str, object]:
    run = {
        "buildNumber": "1",
        "definition": {"id": 7, "name": "shop"},
        "result": result,
        "sourceBranch": branch,
        "project": {"id": project},
    }
    return {"eventType": "build.complete", "resource": run}


def circleci(status: str, **vcs: str) -> dict[str, object]:
    return {
        "type": "workflow-completed",
        "workflow": {"id": "w-1", "name": "test", "status": status},
        "project": {"slug": "gh/acme/shop"},
        "pipeline": {"vcs": vcs or {"branch": "main"}},
    }


def gitlab(status: str, **told: object) -> dict[str, object]:
    run = {"id": 31, "ref": "main", "status": status, "source": "push", "tag": False, **told}
    return {
        "object_kind": "pipeline",
        "object_attributes": run,
        "project": {"path_with_namespace": "acme/shop"},
    }


def awx(status: str, name: str = "Deploy", inventory: str = "prod") -> dict[str, object]:
    ran = {"playbook": "a.yml", "started": "x", "finished": "y"}
    return {"name": name, "inventory": inventory, "status": status, **ran}


def dbt(status: str, job: str = "7") -> dict[str, object]:
    run = {"jobId": job, "runId": "12", "runStatus": status}
    return {"eventType": "job.run.completed", "data": run}


def terraform(*notifications: tuple[str, str]) -> dict[str, object]:
    told = [{"trigger": trigger, "run_status": status} for trigger, status in notifications]
    return {"run_id": "r", "run_url": "u", "workspace_id": "7", "notifications": told}


def octopus(category: str, environment: str) -> dict[str, object]:
    event = {
        "Category": category,
        "ProjectId": "Projects-1",
        "RelatedDocumentIds": ["Deployments-9", environment],
    }
    return {"EventType": "SubscriptionPayload", "Payload": {"Event": event}}


@pytest.mark.parametrize(
    "run",
    [
        azure("canceled"),
        circleci("canceled"),
        circleci("canceled", tag="v1"),
        gitlab("canceled"),
        gitlab("canceling"),
        gitlab("skipped"),
        gitlab("manual"),
        awx("canceled"),
        dbt("Cancelled"),
        terraform(("run:completed", "discarded")),
        terraform(("run:errored", "canceled")),
    ],
)
def test_a_run_that_did_not_come_to_its_end_begins_and_ends_nothing(run):
    assert read(run).state == "other"


@pytest.mark.parametrize(
    "run",
    [
        dbt("Cancelled") | {"status": "failed"},
        azure("canceled") | {"status": "critical"},
        terraform(("run:completed", "applied"), ("run:errored", "errored")),
    ],
)
def test_a_post_that_says_beside_such_a_run_that_something_fails_fires(run):
    assert read(run).state == "firing"


@pytest.mark.parametrize(
    ("fails", "ends"),
    [
        (azure("failed"), azure("succeeded")),
        (circleci("failed"), circleci("success")),
        (circleci("failed", tag="v1"), circleci("success", tag="v1")),
        (gitlab("failed"), gitlab("success") | {"commit": {"id": "b"}}),
        (awx("failed"), awx("successful")),
        (dbt("Error"), dbt("Success")),
        (terraform(("run:errored", "errored")), terraform(("run:completed", "applied"))),
        (
            octopus("DeploymentFailed", "Environments-1"),
            octopus("DeploymentSucceeded", "Environments-1"),
        ),
    ],
)
def test_the_next_good_run_of_a_job_ends_the_alert_of_the_one_that_failed(fails, ends):
    first, last = read(fails), read(ends)

    assert (first.state, last.state) == ("firing", "resolved")
    assert first.key == last.key


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (azure("failed"), azure("succeeded", "refs/pull/9/merge")),
        (azure("failed"), azure("succeeded", project="p2")),
        (azure("failed"), dbt("Error")),
        (dbt("Error"), {"id": "7", "title": "Disk is full", "status": "firing"}),
        (circleci("failed"), circleci("success", tag="main")),
        (gitlab("failed"), gitlab("success", tag=True)),
        (gitlab("failed"), gitlab("success", source="merge_request_event")),
        (
            gitlab("failed", source="merge_request_event") | {"merge_request": {"iid": 1}},
            gitlab("success", source="merge_request_event") | {"merge_request": {"iid": 2}},
        ),
        (awx("failed", "Deploy shop", "prod"), awx("successful", "Deploy", "shop prod")),
        (awx("failed"), awx("successful") | {"limit": "db-1"}),
        (
            terraform(("run:errored", "errored")),
            terraform(("assessment:drifted", "")),
        ),
        (
            octopus("DeploymentFailed", "Environments-1"),
            octopus("DeploymentSucceeded", "Environments-2"),
        ),
    ],
)
def test_runs_of_different_jobs_have_different_keys(first, second):
    assert read(first).key != read(second).key
