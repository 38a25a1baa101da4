"""What would let a refused call pass, for people: one line for each rule that refuses.

Every refusal names its rule, and the line goes with it to the model, to the page and to the
terminal. Settings stand in backticks as `docs/configuration.md` has them. Where no setting helps,
the line begins with `NO_SETTING` and says what does.
"""

from collections.abc import Mapping
from typing import Literal

Rule = Literal[
    # The control level and the classes.
    "read_only", "unclassed", "writing_check", "only_reads", "by_hand",
    # What has to be known before a call.
    "look_first", "not_found_yet", "other_place", "no_way_in", "not_offered_there", "stranger",
    # A person.
    "denied", "nobody_decided", "nobody_to_ask", "outdated", "hidden",
    # The call itself.
    "unknown_tool", "not_selected", "placeholder", "wrong_arguments",
    # What our own server leaves alone.
    "no_read", "secret", "reaches_out", "unfit_file", "left_alone",
]  # fmt: skip

NO_SETTING = "No setting allows it: "
_CONTROLLED = "`control_level: controlled`, for the agent, the stage or the chain"

WAYS_OUT: Mapping[Rule, str] = {
    "read_only": f"{_CONTROLLED}, lets it be proposed; a person then decides about each call.",
    "unclassed": "`manage.py mcp_tools {server} --suggest` drafts the block `tools` of "
    "`mcp_servers.{server}`; with `{tool}: read` in it the call runs.",
    "writing_check": "`tool` in `mcp_servers.{server}.tools.<name>.verify` has to name one that "
    "`tools` of `mcp_servers.{server}` classes as `read`.",
    "only_reads": "As a part of TARSy the server does it, with "
    f"{_CONTROLLED}; on its own it never does.",
    "by_hand": "`manage.py mcp_tools {server} --call TOOL JSON --allow-write` sends it.",
    "look_first": f"{NO_SETTING}a call that reads has to succeed before the next write.",
    "not_found_yet": "A call that reads has to bring the name first. Where something else than the "
    "target was taken for it, `identifies` under `mcp_servers.{server}.tools.{tool}` says which "
    "arguments name the target.",
    "other_place": f"{NO_SETTING}the call has to name one of the more specific resources, or the "
    "host itself has to be asked for.",
    "no_way_in": "`hosts` or `clusters` in the file of `TARSY_OPS_CONFIG` give a way that leads "
    "there.",
    "not_offered_there": f"{NO_SETTING}the resource itself lists what may be done to it.",
    "stranger": "An operator names the host in `instructions` of `mcp_servers.{server}` or in "
    "`custom_instructions` of the agent, or classes the tool that finds it as `resolve` in `tools` "
    "of `mcp_servers.{server}`.",
    "denied": f"{NO_SETTING}a person denied exactly this call.",
    "nobody_decided": "A person has to approve it in time, on the page of the session or by "
    "`POST /api/v1/approvals/{approval_id}/approve`; `approval_timeout` under `queue` says how "
    "long it waits.",
    "nobody_to_ask": "An investigation has to propose it, run by TARSy's workers and with "
    f"{_CONTROLLED}.",
    "outdated": f"{NO_SETTING}its target has changed since a person was asked, so it has to be "
    "asked for anew.",
    "hidden": f"{NO_SETTING}a person has to see all that would run, so it has to go without the "
    "secret.",
    "unknown_tool": "`manage.py mcp_tools {server}` lists what the server has; `mcp_servers` of "
    "the agent, the stage or the chain gives it to an agent.",
    "not_selected": "An alert that chooses tools has to choose this one under `mcp` as well, or "
    "none at all.",
    "placeholder": f"{NO_SETTING}a masked secret is put back nowhere, so a person does what needs "
    "it.",
    "wrong_arguments": f"{NO_SETTING}the arguments have to fit the schema of the tool; "
    "`manage.py mcp_tools {server} --call {tool} JSON` tries them.",
    "no_read": f"{NO_SETTING}a command runs unasked only where it is proved to read. `addresses` "
    "in the file of `TARSY_OPS_CONFIG` lists pages that only tell something; what changes "
    f"something goes through the tools control and file_edit, with {_CONTROLLED}.",
    "secret": f"{NO_SETTING}secrets are read out nowhere; a person looks where they are.",
    "reaches_out": "`may_reach_out: true` in the file of `TARSY_OPS_CONFIG` lets commands ask "
    "other machines.",
    "unfit_file": f"{NO_SETTING}a person changes this file by hand.",
    "left_alone": f"{NO_SETTING}TARSy leaves this alone; a person does it by hand.",
}


def explain_way_out(rule: Rule, tool: str = "") -> str:
    """What would let a call of this tool (`server.tool` or `server__tool`) pass."""
    server, _, name = tool.replace("__", ".", 1).partition(".")
    if not name:
        server = name = "<name>"
    return WAYS_OUT[rule].replace("{server}", server).replace("{tool}", name)
