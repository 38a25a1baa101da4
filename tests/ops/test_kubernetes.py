"""Clusters, through a kubectl that answers what was recorded."""

import json
from dataclasses import replace

import pytest

from ops import kubectl as kubectl_module
from ops.kubernetes_rows import pod_row
from ops.server import build_server
from tests.ops.calls import call_tool

pytestmark = pytest.mark.slow

PODS = {
    "items": [
        {
            "metadata": {
                "name": "api-1",
                "namespace": "shop",
                "annotations": {"token": "hunter2"},
                "ownerReferences": [{"kind": "ReplicaSet", "name": "api-5d"}],
            },
            "spec": {
                "nodeName": "node-1",
                "containers": [{"name": "app", "env": [{"name": "KEY", "value": "hunter2"}]}],
            },
            "status": {
                "phase": "Running",
                "containerStatuses": [
                    {
                        "name": "app",
                        "ready": False,
                        "restartCount": 7,
                        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                        "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}},
                    }
                ],
            },
        },
        {"metadata": {"name": "web-1", "namespace": "shop"}, "status": {"phase": "Running"}},
    ]
}
DEPLOYMENT = {
    "metadata": {"name": "api", "namespace": "shop", "generation": 4},
    "spec": {"replicas": 2, "template": {"spec": {"containers": [{"image": "api:1"}]}}},
    "status": {
        "observedGeneration": 4,
        "replicas": 2,
        "readyReplicas": 2,
        "updatedReplicas": 2,
        "availableReplicas": 2,
    },
}
WRITES = {
    "scale": {"deployment": "api", "replicas": 3},
    "restart": {"deployment": "api"},
    "delete_pod": {"pod": "api-1"},
    "exec": {"pod": "api-1", "command": "uname -s"},
}
READS = ("clusters", "nodes", "pods", "deployments", "logs", "events")
CHANGES = {"scale", "rollout", "delete", "exec", "apply", "patch", "edit", "replace", "create"}


def describe_inits(*states: dict[str, object], **more: object) -> dict[str, object]:
    """A pod whose containers that run before the others are in these states, as ops tells it."""
    names = [f"before-{number}" for number, _ in enumerate(states, 1)]
    inits = [
        {"name": name, "restartCount": 0, "state": state, **more}
        for name, state in zip(names, states, strict=True)
    ]
    app = {"name": "app", "ready": False, "state": {"waiting": {"reason": "PodInitializing"}}}
    return pod_row(
        "prod",
        {
            "metadata": {"name": "api-1", "namespace": "shop"},
            "spec": {"initContainers": [{"name": names[0], "restartPolicy": "Always"}]},
            "status": {
                "phase": "Pending",
                "initContainerStatuses": inits,
                "containerStatuses": [app],
            },
        },
    )


@pytest.mark.parametrize(
    ("states", "status", "open_ones"),
    [
        ([{"terminated": {"exitCode": 0}}, {"running": {}}], "Init:1/2", ["before-2"]),
        (
            [{"waiting": {"reason": "CrashLoopBackOff"}}, {"waiting": {}}],
            "Init:CrashLoopBackOff",
            ["before-1", "before-2"],
        ),
        ([{"terminated": {"exitCode": 3, "reason": "Error"}}], "Init:Error", ["before-1"]),
        ([{"terminated": {"exitCode": 3}}], "Init:ExitCode:3", ["before-1"]),
        ([{"terminated": {"exitCode": 0}}], "PodInitializing", None),
    ],
)
def test_a_pod_that_waits_for_its_init_containers_says_for_which_and_how_far_they_are(
    states, status, open_ones
):
    row = describe_inits(*states)

    assert row["status"] == status
    told = row.get("init_containers")
    assert (told and [each["name"] for each in told]) == open_ones


def test_a_container_that_ended_says_when():
    ended = {"terminated": {"exitCode": 1, "finishedAt": "2026-11-30T11:50:00Z"}}
    row = pod_row("prod", {"status": {"containerStatuses": [{"name": "app", "state": ended}]}})

    assert [each["finished"] for each in row["containers"]] == ["2026-11-30T11:50:00Z"]


def test_an_init_container_that_stays_lets_the_next_one_start():
    row = describe_inits({"running": {}}, started=True)

    assert row["status"] == "PodInitializing"


@pytest.mark.parametrize(
    ("phase", "initialized", "state", "app"),
    [
        (
            "Succeeded",
            "False",
            {"terminated": {"exitCode": 143, "reason": "Error"}},
            {"terminated": {"exitCode": 0, "reason": "Completed"}},
        ),
        ("Running", "True", {"waiting": {"reason": "CrashLoopBackOff"}}, {"running": {}}),
    ],
)
def test_a_pod_past_its_init_containers_does_not_wait_for_one_that_stays(
    phase, initialized, state, app
):
    sidecar = {"name": "istio-proxy", "restartCount": 4, "started": False, "state": state}
    row = pod_row(
        "prod",
        {
            "metadata": {"name": "api-1", "namespace": "shop"},
            "spec": {"initContainers": [{"name": "istio-proxy", "restartPolicy": "Always"}]},
            "status": {
                "phase": phase,
                "conditions": [{"type": "Initialized", "status": initialized}],
                "initContainerStatuses": [sidecar],
                "containerStatuses": [{"name": "app", "ready": True, "state": app}],
            },
        },
    )

    assert row["status"] == phase
    assert "init_containers" not in row


@pytest.fixture
def cluster(programs):
    programs.answer("kubectl", "get pods", PODS)
    programs.answer("kubectl", "get deployments", {"items": [DEPLOYMENT]})
    programs.answer("kubectl", "get deployment api", DEPLOYMENT)
    programs.answer("kubectl", "get pod api-1", PODS["items"][0])
    return programs


def changes_of(programs) -> list[list[str]]:
    return [argv for argv in programs.argv("kubectl") if CHANGES & set(argv)]


async def test_pod_says_why_it_does_not_run(reach, cluster):
    reply = await reach("kubernetes", type="pods", namespace="shop")

    row = reply["data"]["pods"][0]
    assert row["id"] == "pod:prod:shop/api-1"
    assert row["status"] == "CrashLoopBackOff"
    assert row["owner"] == "ReplicaSet/api-5d"
    assert row["containers"][0]["last_end"]["reason"] == "OOMKilled"
    assert "hunter2" not in json.dumps(reply)
    assert cluster.argv("kubectl")[0] == [
        "--context=prod-context", "--request-timeout=15s", "get", "pods", "--namespace=shop",
        "--output=json",
    ]  # fmt: skip


async def test_lists_are_filtered_and_paged(reach, cluster):
    waiting = (await reach("kubernetes", type="pods", status="crashloopbackoff"))["data"]
    page = await reach("kubernetes", type="pods", limit=1)

    assert waiting["total"] == 1
    assert waiting["by_status"] == {"CrashLoopBackOff": 1, "Running": 1}
    assert "offset=1" in page["meta"]["cuts"][0]
    assert "--all-namespaces" in cluster.argv("kubectl")[0]


async def test_deployment_is_available_only_once_all_of_it_is_as_wanted(reach, programs):
    half = {**DEPLOYMENT, "status": {**DEPLOYMENT["status"], "readyReplicas": 1}}
    unseen = {**DEPLOYMENT, "metadata": {**DEPLOYMENT["metadata"], "generation": 5}}
    programs.answer("kubectl", "get deployments", {"items": [DEPLOYMENT, half, unseen]})

    data = (await reach("kubernetes", type="deployments"))["data"]

    assert [row["status"] for row in data["deployments"]] == [
        "available", "progressing", "progressing",
    ]  # fmt: skip


async def test_nodes_tell_readiness_pressure_and_taints(reach, programs):
    programs.answer(
        "kubectl",
        "get nodes",
        {"items": [{
            "metadata": {"name": "node-1"},
            "spec": {"unschedulable": True, "taints": [{"key": "k", "effect": "NoExecute"}]},
            "status": {"conditions": [{"type": "Ready", "status": "False"},
                                      {"type": "DiskPressure", "status": "True"}]},
        }]},
    )  # fmt: skip

    [node] = (await reach("kubernetes", type="nodes"))["data"]["nodes"]

    assert node["status"] == "NotReady"
    assert node["is_schedulable"] is False
    assert [each["type"] for each in node["problems"]] == ["DiskPressure"]
    assert node["taints"] == ["k:NoExecute"]


async def test_events_come_newest_first_and_of_one_object(reach, programs):
    programs.answer(
        "kubectl",
        "get events",
        {"items": [
            {"reason": "Old", "lastTimestamp": "2026-01-01T00:00:00Z", "type": "Warning"},
            {"reason": "New", "lastTimestamp": "2026-01-02T00:00:00Z", "type": "Warning"},
        ]},
    )  # fmt: skip

    data = (await reach("kubernetes", type="events", namespace="shop", object="api-1"))["data"]

    assert [row["reason"] for row in data["events"]] == ["New", "Old"]
    assert "--field-selector=involvedObject.name=api-1" in programs.argv("kubectl")[0]


async def test_logs_are_bounded_and_filtered(reach, programs):
    programs.answer("kubectl", "logs", "t1 ok\nt2 error: a\nt3 ok\n")

    data = (
        await reach(
            "kubernetes", type="logs", namespace="shop", pod="api-1", container="app",
            grep="error", since="2026-01-01",
        )
    )["data"]  # fmt: skip

    assert data["content"] == "t2 error: a"
    [argv] = programs.argv("kubectl")
    assert {"--tail=5000", "--container=app", "--since-time=2026-01-01T00:00:00+00:00"} <= set(argv)
    assert "--follow" not in argv


async def test_contexts_of_kubectl_are_the_clusters_where_none_are_configured(settings, programs):
    programs.answer(
        "kubectl", "config get-contexts", "kind-dev\narn:aws:eks:eu:1:cluster/x\n-bad\n"
    )
    programs.answer("kubectl", "get pods", PODS)
    server = build_server(settings)

    listed = await call_tool(server, "kubernetes", {"type": "clusters"})
    unnamed = await call_tool(server, "kubernetes", {"type": "pods"})
    named = await call_tool(server, "kubernetes", {"type": "pods", "cluster": "kind-dev"})

    assert [row["name"] for row in listed["data"]["clusters"]] == [
        "kind-dev", "arn-aws-eks-eu-1-cluster-x",
    ]  # fmt: skip
    assert unnamed["error"]["code"] == "INVALID_INPUT"
    assert named["data"]["total"] == 2
    assert "--context=kind-dev" in programs.argv("kubectl")[-1]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ('Error from server (NotFound): pods "x" not found', "NOT_FOUND"),
        ("Unable to connect to the server: dial tcp: i/o timeout", "EXECUTION_CONTEXT_UNAVAILABLE"),
        ("error: the server doesn't have a resource type", "EXECUTION_FAILED"),
        ("Error from server (Forbidden): pods is forbidden", "EXECUTION_FAILED"),
    ],
)
async def test_errors_of_a_cluster_are_told_apart(reach, programs, said, code):
    programs.answer("kubectl", "get pods", "", stderr=said, exit_code=1)

    error = (await reach("kubernetes", type="pods"))["error"]

    assert error["code"] == code
    assert said[:30] in error["message"]


@pytest.mark.parametrize("text", ["", "not json", "[]", "[" * 9000])
async def test_answer_that_is_no_object_is_an_error(reach, programs, text):
    programs.answer("kubectl", "get pods", text)

    assert (await reach("kubernetes", type="pods"))["error"]["code"] == "EXECUTION_FAILED"


async def test_machine_without_kubectl_says_so(settings):
    server = build_server(replace(settings, path="/nowhere"))

    reply = await call_tool(server, "kubernetes", {"type": "pods"})

    assert reply["error"]["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"


async def test_answer_without_end_is_cut_off(reach, programs, monkeypatch):
    monkeypatch.setattr(kubectl_module, "_MAX_BYTES", 100)
    programs.answer("kubectl", "get pods", " " * 10_000)

    reply = await reach("kubernetes", type="pods")

    assert "larger than 100 bytes" in reply["error"]["message"]


# Writes


@pytest.mark.parametrize(
    ("type", "argv"),
    [
        ("scale", ["scale", "deployment/api", "--replicas=3", "--namespace=shop"]),
        ("restart", ["rollout", "restart", "deployment/api", "--namespace=shop"]),
        ("delete_pod", ["delete", "pod/api-1", "--wait=false", "--namespace=shop"]),
    ],
)
async def test_change_is_made_once_and_the_read_that_checks_it_is_told(reach, cluster, type, argv):
    cluster.answer("kubectl", argv[0], "done\n")

    reply = await reach("kubernetes", type=type, namespace="shop", **WRITES[type])

    assert changes_of(cluster) == [["--context=prod-context", "--request-timeout=15s", *argv]]
    check = reply["data"]["check"]
    assert check["tool"] == "kubernetes"
    assert (await reach("kubernetes", **check["arguments"]))["ok"]
    assert len(changes_of(cluster)) == 1


async def test_scaling_tells_what_undoes_it(reach, cluster):
    cluster.answer("kubectl", "scale", "")

    reply = await reach("kubernetes", type="scale", namespace="shop", **WRITES["scale"])

    assert reply["data"]["replicas_before"] == 2
    assert reply["data"]["resource_id"] == "deployment:prod:shop/api"


async def test_program_runs_in_a_pod_without_a_shell_that_reads_it(reach, cluster):
    reply = await reach(
        "kubernetes",
        type="exec",
        resource_id="pod:prod:shop/api-1",
        command="printf '%s|' 'a b' '$(id)' ';'",
    )

    assert reply["data"]["stdout"] == "a b|$(id)|;|"
    assert reply["data"]["exit_code"] == 0


@pytest.mark.parametrize(
    "command",
    ["", "a && b", "a | b", "a; b", "echo $(id)", "echo $HOME", "a > /tmp/x", "a &", "! a",
     "a < /etc/passwd", "A=b c", "for i in a; do b; done", "a\nb"],
)  # fmt: skip
async def test_what_a_person_would_approve_is_one_program_and_nothing_else(reach, cluster, command):
    reply = await reach(
        "kubernetes", type="exec", resource_id="pod:prod:shop/api-1", command=command
    )

    assert reply["error"]["code"] == "INVALID_INPUT"
    assert changes_of(cluster) == []


@pytest.mark.parametrize("type", WRITES)
@pytest.mark.parametrize(
    "place",
    [
        {},
        {"namespace": ""},
        {"cluster": "prod"},
        {"namespace": "-n"},
        {"namespace": "shop --all"},
        {"namespace": "Shop"},
        {"namespace": "shop", "cluster": "other"},
        {"namespace": "shop", "cluster": "--context=x"},
        {"resource_id": "api"},
        {"resource_id": "service:web-1:api"},
        {"resource_id": "pod:prod:shop/"},
        {"resource_id": "deployment::shop/api"},
        {"resource_id": "deployment:prod:shop/other"},
        {"resource_id": "pod:prod:shop/other"},
        {"resource_id": "deployment:prod:shop/api", "namespace": "prod"},
        {"resource_id": "pod:prod:shop/api-1", "namespace": "prod"},
    ],
)
async def test_nothing_is_changed_that_is_not_wholly_named(reach, cluster, type, place):
    reply = await reach("kubernetes", type=type, **WRITES[type], **place)

    assert reply["error"]["code"] in ("INVALID_INPUT", "NOT_FOUND")
    assert changes_of(cluster) == []


@pytest.mark.parametrize("name", ["-h", "--all", "a b", "A", "a/b", "$(id)", "a\n", "x" * 254])
@pytest.mark.parametrize("type", WRITES)
async def test_no_name_of_a_workload_is_an_option(reach, cluster, type, name):
    arguments = {**WRITES[type], "deployment" if "deployment" in WRITES[type] else "pod": name}

    reply = await reach("kubernetes", type=type, namespace="shop", **arguments)

    assert reply["error"]["code"] == "INVALID_INPUT"
    assert cluster.argv("kubectl") == []


@pytest.mark.parametrize("replicas", [-1, 1001, None, "3; id"])
async def test_number_of_replicas_has_bounds(reach, cluster, replicas):
    reply = await reach(
        "kubernetes", type="scale", namespace="shop", deployment="api", replicas=replicas
    )

    assert reply["error"]["code"] == "INVALID_INPUT"
    assert changes_of(cluster) == []


async def test_workload_that_is_not_there_is_not_changed(reach, programs):
    programs.answer(
        "kubectl", "get", "", stderr="Error from server (NotFound): not found", exit_code=1
    )

    for type, arguments in WRITES.items():
        reply = await reach("kubernetes", type=type, namespace="shop", **arguments)
        assert reply["error"]["code"] == "NOT_FOUND"

    assert changes_of(programs) == []


@pytest.mark.parametrize("type", READS)
async def test_reads_only_read_whatever_else_they_are_given(reach, cluster, type):
    everything = {
        "namespace": "shop", "deployment": "api", "pod": "api-1", "command": "rm -rf /",
        "replicas": 0, "resource_id": "pod:prod:shop/api-1",
    }  # fmt: skip

    await reach("kubernetes", type=type, **everything)

    assert changes_of(cluster) == []


# Resources


async def test_workloads_are_resources_with_what_may_be_done_to_them(reach, cluster):
    listed = (await reach("query", action="list", kind="deployment"))["data"]
    pod = (await reach("query", action="get", resource_id="pod:prod:shop/api-1"))["data"]
    by_name = (await reach("query", action="get", resource_id="shop/api"))["data"]

    assert [row["id"] for row in listed["resources"]] == ["deployment:prod:shop/api"]
    assert listed["resources"][0]["executors"][0]["adapter"] == "kubectl"
    assert {"delete_pod", "exec", "read.exec"} <= set(pod["allowed_actions"])
    assert by_name["allowed_actions"] == ["query", "restart", "scale"]
    assert by_name["id"] == "deployment:prod:shop/api"


async def test_silent_cluster_costs_only_itself(reach, programs):
    programs.answer("kubectl", "get", "", stderr="Unable to connect", exit_code=1)

    data = (await reach("query", action="list", limit=500))["data"]

    assert data["sources"]["kubernetes"] is False
    assert any(row["kind"] == "host" for row in data["resources"])


async def test_guests_of_a_node_are_resources(reach, programs):
    programs.answer("pct", "list", "VMID Status Lock Name\n101 running  cache\nx -rf y\n")
    programs.answer("qm", "list", " VMID NAME STATUS\n 102 db stopped 1 2 3\n 103 -rf running\n")
    programs.answer("pct", "config 101", "hostname: cache\nmemory: 512\npassword: hunter2\n")

    listed = (await reach("query", action="list", kind="lxc"))["data"]
    machine = (await reach("query", action="get", resource_id="vm:web-1:102"))["data"]
    setup = (await reach("query", action="config", resource_id="lxc:web-1:101"))["data"]

    assert [(row["id"], row["status"]) for row in listed["resources"]] == [
        ("lxc:web-1:101", "running")
    ]
    assert machine["executors"][0]["adapter"] == "qm"
    assert machine["status"] == "stopped"
    assert setup["config"] == {"hostname": "cache", "memory": "512", "password": "***"}
