"""What a person is told before deciding."""

import json

import pytest

from mcp_bridge.safety.previews import GENERAL_CHECK, UNKNOWN_UNDO, preview_write
from mcp_bridge.safety.resources import Resource
from mcp_bridge.safety.targeting import Target
from tests.mcp_bridge.safety.calls import foreign, own


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
    nginx = Resource("service", "nginx", host_name="edge-2", status="failed")

    preview = preview_write(own("control", "write", action="restart"), Target("x", nginx))

    assert preview.current_state == "failed"
    assert preview.verification == ("Afterwards: whether it runs again.", GENERAL_CHECK)
    assert "cannot be taken back" in preview.undo


def test_an_unknown_write_promises_nothing():
    preview = preview_write(foreign("frobnicate", "write"), Target())

    assert preview.verification == (GENERAL_CHECK,)
    assert (preview.undo, preview.current_state) == (UNKNOWN_UNDO, "")
    json.dumps(preview.to_json())
