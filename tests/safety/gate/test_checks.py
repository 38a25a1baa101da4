"""After each write we look ourselves whether it took effect; what nobody saw is never verified."""

import hashlib
import json

import pytest

from agents.ports import ProposedAnswer
from agents.result_texts import read_result, write_result
from agents.types import Message, ToolTarget, WriteStatus
from safety import checks
from safety.checks import (
    Check,
    Expectation,
    find_declared_check,
    find_own_check,
    is_this_check,
    judge_answer,
)
from safety.gate.safety_gate import SafetyGate
from tests.cases import for_each
from tests.safety.gate.calls import NGINX, Counters, Desk, envelope
from tests.safety.gate.world import Agent, World
from tests.server_plans import ExpectPlan, VerifyPlan


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SOON", "IN_A_WHILE"):
        monkeypatch.setattr(checks, name, (0.0, 0.0))


def make_agent(trail: Counters | None = None) -> Agent:
    world = World(services={NGINX: "stopped"}, replicas={"shop": 2})
    return Agent(world, SafetyGate("controlled", desk=Desk(), events=trail))


async def restart(agent: Agent, action: str = "restart"):
    await agent.run("ops.query", {"action": "list"})
    return await agent.run("ops.control", {"action": action, "resource_id": NGINX})


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def state(agent: Agent) -> str:
    return agent.gate.standing.workflow.state


async def review(agent: Agent):
    return await agent.gate.review_answer(ProposedAnswer("It is resolved."))


async def test_a_restart_is_looked_at_by_us_and_a_confirmed_one_needs_no_read_of_the_model():
    agent = make_agent()

    result = await restart(agent)

    assert result.check is not None
    assert (result.check.target.name, result.check.status) == ("ops.query", "verified")
    assert result.check.target.arguments == {"action": "get", "resource_id": NGINX}
    assert state(agent) == "READING"
    assert (await review(agent)).text == "It is resolved."
    (write,) = (await review(agent)).metadata["writes"]["steps"]
    assert write["status"] == "verified"


@pytest.mark.parametrize(("how", "status"), [("", "verified"), ("lies", "failed")])
async def test_what_a_check_showed_is_on_record_whatever_it_was(how: str, status: str):
    trail = Counters()
    agent = make_agent(trail)
    agent.world.how = how or agent.world.how

    await restart(agent)

    [seen] = [act for act in trail.acts if act.kind == "call.verify"]
    assert (seen.facts["write"], seen.facts["status"]) == ("ops.control", status)


async def test_a_write_that_did_nothing_fails_its_check_and_no_answer_passes():
    agent = make_agent()
    agent.world.how = "lies"

    result = await restart(agent)

    assert result.check is not None
    assert result.check.status == "failed"
    assert "stopped, not running" in result.check.reason
    assert state(agent) == "VERIFYING"
    assert (await review(agent)).objection


async def test_what_a_failed_check_saw_is_said_even_after_the_model_has_read_something_else():
    agent = make_agent()
    agent.world.how = "lies"
    await restart(agent)

    await agent.run("ops.metrics", {"action": "cpu"})
    answer = await review(agent)

    assert answer.objection == ""
    assert answer.text.startswith(f"**Unverified:** ops.control has run on `{NGINX}`")
    assert answer.text.endswith("\n\nIt is resolved.")


async def test_a_write_that_comes_late_is_verified_by_the_same_read_of_the_model():
    agent = make_agent()
    agent.world.how = "lies"
    await restart(agent)
    agent.world.services[NGINX] = "running"

    await agent.run("ops.query", {"action": "get", "resource_id": NGINX})

    assert (await review(agent)).text == "It is resolved."


async def test_a_later_write_to_the_same_place_makes_a_failed_one_good():
    agent = make_agent()
    agent.world.how = "lies"
    await restart(agent)
    await agent.run("ops.metrics", {"action": "cpu"})
    agent.world.how = "answers"

    await agent.run("ops.control", {"action": "start", "resource_id": NGINX})

    assert (await review(agent)).text == "It is resolved."


async def test_a_check_that_cannot_run_leaves_the_write_unverified():
    agent = make_agent()
    await agent.run("ops.query", {"action": "list"})
    agent.world.reads_fail = True

    result = await agent.run("ops.control", {"action": "restart", "resource_id": NGINX})

    assert result.check is not None
    assert result.check.status == "unverified"
    assert state(agent) == "VERIFYING"


async def test_a_check_goes_through_the_selection_of_tools_like_any_call():
    agent = make_agent()
    await agent.run("ops.query", {"action": "list"})
    agent.selected = ("ops.metrics", "ops.control")
    agent.open()

    result = await agent.run("ops.control", {"action": "restart", "resource_id": NGINX})

    assert result.check is not None
    assert result.check.status == "unverified"
    assert "not among the tools selected" in result.check.result.content
    assert state(agent) == "VERIFYING"


async def test_an_operators_check_takes_its_arguments_from_the_write():
    agent = make_agent()
    await agent.run("deployer.list", {})

    result = await agent.run("deployer.scale", {"app": "shop", "replicas": 5})

    assert result.check is not None
    assert result.check.target.arguments == {"app": "shop"}
    assert (result.check.status, result.check.reason) == ("verified", "replicas is 5")


async def test_a_declared_check_that_writes_never_runs():
    agent = make_agent()
    await agent.run("deployer.list", {})

    result = await agent.run("deployer.tidy", {"app": "shop"})

    assert [name for name, _ in agent.world.executed] == ["deployer.tidy"]
    assert result.check is not None
    assert result.check.status == "unverified"


@pytest.mark.parametrize(
    ("read", "arguments", "is_settled"),
    [
        ("deployer.list", {}, True),
        ("deployer.status", {"app": "shop"}, True),
        ("deployer.status", {"app": "shop-2"}, False),
        ("ops.metrics", {"app": "shop"}, False),
    ],
    ids=["shows it", "asks for it by name", "looks at another", "on another server"],
)
async def test_without_a_check_a_read_that_looks_at_the_target_verifies(
    read, arguments, is_settled
):
    agent = make_agent()
    await agent.run("deployer.list", {})
    result = await agent.run("deployer.purge", {"app": "shop"})
    assert result.check is None

    await agent.run(read, arguments)

    assert state(agent) == "READING"
    assert ("**Unverified:**" in (await review(agent)).text) is not is_settled


@pytest.mark.parametrize("how", ["loses", "errs"])
async def test_a_write_without_a_good_answer_is_looked_at_as_well(how):
    agent = make_agent()
    agent.world.how = how

    result = await restart(agent)

    assert result.is_error
    assert result.check is not None
    assert result.check.status == ("verified" if how == "loses" else "failed")


async def test_a_write_that_reported_an_error_is_named_in_the_report_whatever_was_seen_later():
    agent = make_agent()
    agent.world.services[NGINX] = "running"
    agent.world.how = "errs"

    await restart(agent)

    assert state(agent) == "READING"
    assert "it reported an error" in (await review(agent)).text


async def test_an_interrupted_write_is_not_sent_again_and_is_looked_at():
    agent = make_agent()
    await agent.run("ops.query", {"action": "list"})
    desk = Desk()
    agent.gate = SafetyGate("controlled", desk=desk)
    agent.open()
    agent.world.how = "refuses"  # it is a crash that matters here, not what came back
    await agent.run("ops.control", {"action": "restart", "resource_id": NGINX})
    agent.stored[-1].result = None
    agent.world.services[NGINX] = "running"
    agent.gate = SafetyGate("controlled", desk=desk)
    agent.open()

    result = await agent.execute(agent.stored[-1])

    assert agent.world.executed == []
    assert "interrupted and is not repeated" in result.content
    assert result.check is not None
    assert result.check.status == "verified"
    assert state(agent) == "READING"


async def test_the_model_is_told_of_the_check_beside_the_result():
    agent = make_agent()

    result = await restart(agent)
    text = write_result(7, ToolTarget("ops", "control", {}), result)

    head, line, begin = text.splitlines()[:3]
    assert head == "[T7] ops.control"
    assert line == "VERIFICATION: verified, by a call of ops.query that TARSy made itself."
    assert begin.startswith("<<<outside ")
    assert '"status": "running"' in text
    assert read_result(Message("tool", text, tool_call_id="c7")) is not None


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (envelope({"sha256": hash_of("a\nb")}), "verified"),
        (envelope({"sha256": hash_of("a\nb\n")}), "failed"),
        (envelope({"content": "a\nb"}), "unverified"),
        ("no JSON", "unverified"),
    ],
)
def test_a_file_is_read_back_and_compared_by_hash(answer, status):
    arguments = {"action": "write", "path": "/srv/a", "content": "a\nb", "resource_id": "host:a"}

    check = find_own_check("ops", "file_edit", {**arguments, "expected_sha256": "absent"})

    assert check is not None
    assert check.arguments == {
        "action": "read", "path": "/srv/a", "resource_id": "host:a", "max_bytes": 0,
    }  # fmt: skip
    assert judge_answer(check, answer).status == status


def test_what_was_appended_has_to_be_the_end_and_the_rest_what_was_there():
    before, end = hash_of("old\n"), hash_of("new\n")
    append = {"action": "append", "path": "/a", "content": "new\n"}
    check = find_own_check("ops", "file_edit", {**append, "expected_sha256": before})
    later = find_own_check("ops", "file_edit", append)

    assert check is not None
    assert later is not None
    assert check.arguments["tail_bytes"] == 4
    right = envelope({"tail_sha256": end, "head_sha256": before})
    other = envelope({"tail_sha256": end, "head_sha256": hash_of("older\n")})
    assert judge_answer(check, right).status == "verified"
    assert judge_answer(check, other).status == "failed"
    # Of a write that was interrupted it is not known what was there before.
    assert judge_answer(later, other).status == "verified"


def test_a_file_that_was_new_has_to_be_what_was_appended():
    append = {"action": "append", "path": "/a", "content": "new\n", "expected_sha256": "absent"}

    check = find_own_check("ops", "file_edit", append)

    assert check is not None
    assert judge_answer(check, envelope({"sha256": hash_of("new\n")})).status == "verified"


def test_a_plain_read_of_the_model_is_the_same_look_at_a_file():
    write = {"action": "write", "path": "/a", "content": "x", "resource_id": "host:a"}
    check = find_own_check("ops", "file_edit", write)
    plain = {"action": "read", "path": "/a", "resource_id": "host:a"}

    assert check is not None
    assert is_this_check(check, "ops.file_edit", plain)
    assert not is_this_check(check, "ops.file_edit", {**plain, "path": "/b"})


@pytest.mark.parametrize(
    ("arguments", "rows", "status"),
    [
        ({"type": "scale", "replicas": 3}, [{"replicas": 3}], "verified"),
        ({"type": "scale", "replicas": 3}, [{"replicas": 2}], "failed"),
        ({"type": "scale", "replicas": 3}, [], "unverified"),
        ({"type": "restart"}, [{"status": "available"}], "verified"),
        ({"type": "restart"}, [{"status": "available"}, {"status": "progressing"}], "failed"),
    ],
)
def test_a_deployment_is_looked_up_where_it_is(arguments, rows, status):
    place = {"cluster": "c", "namespace": "shop", "deployment": "web"}
    by_id = {"resource_id": "deployment:c:shop/web"}

    check = find_own_check("ops", "kubernetes", {**arguments, **by_id})

    assert check is not None
    assert check == find_own_check("ops", "kubernetes", {**arguments, **place})
    assert check.arguments == {"type": "deployments", **place}
    assert judge_answer(check, envelope({"deployments": rows})).status == status


def test_a_container_is_inspected():
    arguments = {"action": "control", "container": "web", "operation": "stop"}

    check = find_own_check("ops", "docker", arguments)

    assert check is not None
    assert check.arguments == {"action": "inspect", "container": "web"}
    assert judge_answer(check, envelope({"state": {"status": "exited"}})).status == "verified"


def test_what_a_report_says_of_a_write_is_one_line_that_nothing_breaks_out_of():
    status = WriteStatus(
        "ops.control",
        "a`b\n# c",
        "failed",
        "x is ![p](http://evil.example/p)\n## y",
        is_settled=False,
    )

    assert status.sentence == (
        "**Unverified:** ops.control has run on `a b # c`, and x is "
        r"\!\[p\]\(http://evil.example/p\) \#\# y."
    )


def test_no_write_of_ours_has_a_check_that_is_a_write():
    for tool in ("control", "docker", "file_edit", "kubernetes"):
        for action in ("start", "stop", "restart", "write", "append", "control", "scale"):
            arguments = {
                "action": action, "type": action, "operation": "stop", "resource_id": "a:b:c/d",
                "container": "c", "path": "/a", "content": "x", "deployment": "d",
            }  # fmt: skip
            check = find_own_check("ops", tool, arguments)
            if check is not None:
                assert json.dumps(dict(check.arguments)).count("restart") == 0
                assert check.arguments.get("action") in (None, "get", "inspect", "read")


@for_each(["", "  ", "\n", None, [], {}])
def test_a_write_of_nothing_is_not_proved_by_an_answer_that_contains_nothing(wanted):
    check = Check("x", "read_file", {}, (Expectation((), "contains", (wanted,)),))

    assert judge_answer(check, "anything at all").status == "unverified"


def test_an_argument_that_the_write_may_leave_out_is_asked_for_only_where_it_has_it():
    rule = VerifyPlan(
        "get", {"name": "$name", "space": "$space if given"}, ExpectPlan("size", "$size")
    )

    whole = find_declared_check("k8s", rule, {"name": "web", "space": "shop", "size": 3})
    short = find_declared_check("k8s", rule, {"name": "web", "size": 3})

    assert whole is not None
    assert short is not None
    assert whole.arguments == {"name": "web", "space": "shop"}
    assert short.arguments == {"name": "web"}
    assert find_declared_check("k8s", rule, {"space": "shop", "size": 3}) is None


@for_each(
    [
        ('Deployment web\n{"spec": {"replicas": 3}}', "verified"),
        ('Deployment web\n{"spec": {"replicas": 4}}', "failed"),
        ("Deployment web\nspec.replicas: 3", "unverified"),
    ]
)
def test_structured_content_behind_a_text_is_where_a_path_leads(case):
    text, status = case
    check = Check("x", "get", {}, (Expectation(("spec", "replicas"), "is", (3,)),))

    assert judge_answer(check, text).status == status


@for_each([({"a": [1]}, "verified"), ({"a": [2]}, "failed"), ([1], "failed")])
def test_an_object_that_was_written_may_be_read_back_as_its_json(case):
    wanted, status = case
    check = Check("x", "get", {}, (Expectation((), "is", (wanted,)),))

    assert judge_answer(check, '{"a":[1]}').status == status
