"""What is over and what was left behind is no cause, and the same things of today are one."""

import pytest

from tests.rules.worlds import World, built_in_packs, investigate

PACKS = built_in_packs()
PODS = "NAMESPACE NAME READY STATUS RESTARTS AGE IP NODE"
WEB = "shop web-6d4cf56db6-7kx2p 1/1 Running 0 6d 10.1.0.4 n1"


def table(*rows: str) -> str:
    """Rows of words as columns, the first one the head."""
    return "".join("".join(f"{cell:<42}" for cell in row.split()) + "\n" for row in rows)


def cluster(*pods: str, **more: str) -> tuple[dict[str, str], ...]:
    commands = {
        "kubectl get pods -A -o wide": table(PODS, *pods),
        "kubectl get nodes -o wide": table(
            "NAME STATUS ROLES AGE VERSION", "n1 Ready <none> 90d v1"
        ),
        **{command.replace("_", " "): text for command, text in more.items()},
    }
    return tuple({"command": command, "text": text} for command, text in commands.items())


async def first_of(answers, server="kubectl", **labels):
    alert = {"labels": {"alertname": "HighErrorRate", **labels}}
    world = World("own", alert, (server,), answers)
    return (await investigate(world, PACKS)).first.get("says", "")


@pytest.mark.parametrize(
    "remains",
    [
        "shop web-6d4cf56db6-9fz4k 0/1 Evicted 0 11d <none> n2",
        "shop web-6d4cf56db6-9fz4k 0/1 NodeShutdown 0 11d <none> n2",
        "shop web-6d4cf56db6-9fz4k 0/1 OutOfcpu 0 11d <none> n2",
        "shop web-6d4cf56db6-9fz4k 0/1 UnexpectedAdmissionError 0 11d <none> n2",
        "shop web-6d4cf56db6-9fz4k 0/1 ContainerStatusUnknown 1 11d <none> n2",
        "shop web-6d4cf56db6-9fz4k 0/1 Completed 0 11d <none> n2",
    ],
)
async def test_pods_that_were_replaced_days_ago_are_no_cause(remains):
    assert await first_of(cluster(WEB, remains), namespace="shop", service="web") == ""


async def test_pods_that_are_evicted_now_are_told():
    young = WEB.replace("6d ", "4m ")
    gone = "shop web-6d4cf56db6-9fz4k 0/1 Evicted 0 11d <none> n2"

    assert "evicted" in await first_of(cluster(young, gone), namespace="shop", service="web")


@pytest.mark.parametrize("ended", ["Error", "OOMKilled", "Evicted", "DeadlineExceeded"])
async def test_a_run_that_a_later_one_made_good_is_no_cause(ended):
    bad = f"dwh export-29408000-k2x9c 0/1 {ended} 0 54m 10.1.0.4 n1"
    good = "dwh export-29408030-p8z2m 0/1 Completed 0 24m 10.1.0.5 n1"

    assert await first_of(cluster(bad, good), namespace="dwh") == ""


async def test_a_run_that_failed_after_a_good_one_is_told():
    first = "dwh export-29408000-k2x9c 0/1 Completed 0 54m 10.1.0.4 n1"
    second = "dwh export-29408030-p8z2m 0/1 Error 0 24m 10.1.0.5 n1"

    assert "export-29408030" in await first_of(cluster(first, second), namespace="dwh")


@pytest.mark.parametrize(
    "pod",
    [
        WEB.replace("Running 0", "Running 7"),
        "shop web-6d4cf56db6-7kx2p 1/1 Running 4_(3d_ago) 6d 10.1.0.4 n1",
    ],
)
async def test_a_pod_that_is_well_since_days_is_no_cause(pod):
    answers = cluster(pod)
    text = answers[0]["text"].replace("4_(3d_ago)", "4 (3d ago)")

    assert await first_of(({**answers[0], "text": text}, *answers[1:]), namespace="shop") == ""


async def test_lines_of_a_log_from_days_ago_are_no_cause():
    old = "2026-11-27T03:00:00Z ERROR dial tcp: connection to basket:5432 refused\n"
    answers = cluster(WEB, **{"kubectl logs web-6d4cf56db6-7kx2p -n shop --tail=80": old})

    assert await first_of(answers, namespace="shop", deployment="web") == ""


async def test_lines_of_a_log_from_now_are_told():
    new = "2026-11-30T11:58:00Z ERROR dial tcp: connection to basket:5432 refused\n"
    answers = cluster(WEB, **{"kubectl logs web-6d4cf56db6-7kx2p -n shop --tail=80": new})

    assert "basket" in await first_of(answers, namespace="shop", deployment="web")


async def test_who_waits_for_a_crashed_scheduler_is_explained_by_it():
    waiting = "shop web-6d4cf56db6-7kx2p 0/1 Pending 0 20m <none> <none>"
    crashed = "kube-system kube-scheduler-cp-1 0/1 CrashLoopBackOff 9 30d 10.1.0.9 n1"

    assert "kube-scheduler" in await first_of(
        cluster(waiting, crashed), namespace="shop", deployment="web"
    )


@pytest.mark.parametrize(
    ("line", "is_explained"),
    [
        ("lookup basket on 10.43.0.10:53: read udp 10.1.0.4:41220: i/o timeout", True),
        ("dial tcp 10.43.0.99:5432: connection to basket:5432 refused", False),
    ],
)
async def test_crashed_dns_explains_look_ups_that_nobody_answered(line, is_explained):
    crashed = "kube-system coredns-6d4cf56db6-9fz4k 0/1 CrashLoopBackOff 9 30d 10.1.0.9 n1"
    said = f"2026-11-30T11:59:00Z ERROR {line}\n"
    log = {"kubectl logs web-6d4cf56db6-7kx2p -n shop --tail=80": said}
    told = await first_of(cluster(WEB, crashed, **log), namespace="shop", deployment="web")

    assert ("coredns" in told) is is_explained
