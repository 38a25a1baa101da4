"""What a person is told before deciding."""

import json
from dataclasses import replace
from typing import get_args

import pytest

from agents.types import JSON
from ops.control.actions import ControlAction
from ops.tools.kubernetes import Change
from safety.checks import Check
from safety.gate.approval.previews import GENERAL_CHECK, NO_CHECK, UNKNOWN_UNDO, preview_write
from safety.gate.resources import Resource
from safety.gate.target_states import see_state
from safety.gate.targeting import State, Target
from safety.gate.writes import Writes
from safety.gate_port import settled_call
from tests.safety.gate.calls import foreign, own
from tests.server_plans import ExpectPlan, VerifyPlan

DECLARED = VerifyPlan("status", {"app": "$app"}, ExpectPlan("replicas", "2"))


@pytest.mark.parametrize(
    ("request_", "risk"),
    [
        (own("control", "write", action="restart", resource_id="service:a:b"), "medium"),
        (own("control", "write", action="delete", resource_id="service:a:b"), "high"),
        (own("control", "write", action="command", command="rm -rf /var/log"), "high"),
        (own("control", "write", action="command", command="touch /tmp/x"), "medium"),
        (own("control", "write", action="command", command="pct destroy 100"), "high"),
        (own("control", "write", action="command", command="chmod -R 777 /srv"), "high"),
        (own("control", "write", action="command", command="docker system prune"), "high"),
        (own("control", "write", action="command", command="systemctl disable db"), "high"),
        (own("control", "write", action="restart", force=True), "high"),
        (foreign("pods_delete", "write", name="a"), "high"),
        (foreign("deletePod", "write", name="a"), "high"),
        (foreign("pods_run", "write", args=["rm", "-rf", "/"]), "high"),
        (foreign("deployment_scale", "write", name="a"), "medium"),
        (foreign("addComment", "write", text="rm -rf /"), "low"),
        (foreign("something", "write"), "medium"),
        (foreign("batch", "write", steps=[{"command": "systemctl stop db"}]), "high"),
    ],
)
def test_the_risk_is_read_off_names_and_commands(request_, risk):
    assert preview_write(request_, Target()).risk == risk


def test_a_restart_says_what_is_checked_and_that_nothing_undoes_it():
    restart = own("control", "write", action="restart", resource_id="service:edge-2:nginx")

    preview = preview_write(restart, Target("x", state=State("failed", "stopped")))

    assert preview.current_state == "failed"
    assert preview.verification == (
        "TARSy calls ops.query (action=get, resource_id=service:edge-2:nginx): "
        "data.status has to be running or active or up.",
        GENERAL_CHECK,
    )
    assert "cannot be taken back" in preview.undo


def test_an_update_tells_what_runs_and_which_image_would_undo_it():
    digests = {"current_digest": "sha256:old", "digest": "sha256:new"}
    update = own("docker", "write", action="update", container="a", **digests)

    preview = preview_write(update, Target())

    assert preview.risk == "medium"
    assert "docker compose up --no-deps" in preview.undo
    assert "sha256:old" in preview.undo
    assert "sha256:new" in preview.verification[0]
    assert preview_write(foreign("docker", "write", action="update"), Target()).undo == UNKNOWN_UNDO


def test_an_unknown_write_promises_nothing():
    preview = preview_write(foreign("frobnicate", "write"), Target())

    assert preview.verification == (NO_CHECK, GENERAL_CHECK)
    assert (preview.undo, preview.current_state) == (UNKNOWN_UNDO, "")
    json.dumps(preview.to_json())


@pytest.mark.parametrize(
    "request_",
    [
        own("control", "write", action="restart", resource_id="service:a:b"),
        own("control", "write", action="stop", resource_id="service:a:b"),
        own("control", "write", action="kill", resource_id="process:a:b"),
        own("control", "write", action="command", resource_id="host:a", command="id"),
        own("docker", "write", action="control", operation="start", container="a"),
        own("docker", "write", action="update", container="a", digest="sha256:b"),
        own("kubernetes", "write", type="scale", replicas=2, resource_id="deployment:c:n/d"),
        own("kubernetes", "write", type="delete_pod", resource_id="pod:c:n/p"),
        own("file_edit", "write", action="write", path="/srv/a", content="x"),
        own("file_edit", "write", action="append", path="/srv/a", content="x"),
        own("file_edit", "write", action="explode", path="/srv/a"),
        foreign("pods_delete", "write", name="a"),
        replace(foreign("scale", "write", app="a"), verify=DECLARED),
        replace(foreign("scale", "write"), verify=DECLARED),
    ],
)
def test_the_check_that_is_named_is_the_one_that_is_made(request_):
    writes = Writes()
    writes.add(settled_call(request_, "succeeded", "{}", 0))

    made = writes.take_check(request_.call_id)
    named = preview_write(request_, Target()).verification[0]

    assert named == (made.sentence if made is not None else NO_CHECK)


SHOP = "service:vm:shop-web"
OPERATIONS = ("start", "stop", "restart")
OWN_ACTS = (
    *(("control", {"action": act}) for act in get_args(ControlAction)),
    *(("docker", {"action": "control", "operation": each}) for each in OPERATIONS),
    ("docker", {"action": "update"}),
    *(("kubernetes", {"type": each}) for each in get_args(Change)),
    ("knowledge", {"action": "remember"}),
)


@pytest.mark.parametrize(("tool", "arguments"), OWN_ACTS)
def test_of_each_act_of_our_own_tools_it_is_told_how_it_is_undone(tool, arguments):
    assert preview_write(own(tool, "write", **arguments), Target()).undo != UNKNOWN_UNDO


async def test_of_a_repair_it_is_told_what_its_operator_declares():
    repair = own("control", "write", action="repair", repair="roll-back", resource_id=SHOP)
    declared = [
        {"repair": "tidy", "does": "tidies up", "undo": "Nobody can."},
        {"repair": "roll-back", "does": "goes back to release 41", "undo": "Put it back."},
    ]
    answer = {"data": {"status": "running", "attributes": {"repairs": declared}}}

    async def look(_read: Check) -> JSON:
        return answer

    state = await see_state(
        repair, Target(SHOP, Resource("service", "shop-web", host_name="vm")), look
    )

    assert (state.shown, state.undo) == ("running", "Put it back.")
    preview = preview_write(repair, Target(SHOP, state=state))
    assert (preview.does, preview.undo) == ("goes back to release 41", "Put it back.")
    # What is shown decides nothing: the same state with other words is the same state.
    assert replace(state, does="", undo="").bound == state.bound
