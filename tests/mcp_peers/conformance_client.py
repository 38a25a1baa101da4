"""What the MCP conformance suite starts as the client: our own toolbox, and nothing beside it.

The suite appends the address of its server, and says in MCP_CONFORMANCE_SCENARIO what it tries.
"""

import asyncio
import json
import logging
import sys

from agents.types import JSON, ToolCall, ToolSpec
from mcp_bridge.connection import Deadlines
from mcp_bridge.toolbox import open_toolbox
from safety.tool_rules import ClassRule
from tests.mcp_bridge.open_gate import OpenGate
from tests.server_plans import ServerPlan, TransportPlan

SAMPLES: dict[str, JSON] = {
    "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}, "string": "sample",
}  # fmt: skip


READS = ClassRule("read")
# Of these the suite expects that the call is made again, or that a question is answered.
READING = ("add_numbers", "test_client_elicitation_defaults", "test_reconnection")


async def call_every_tool(url: str) -> int:
    plan = ServerPlan(TransportPlan("http", url=url), tools=dict.fromkeys(READING, READS))
    async with open_toolbox(
        {"suite": plan}, gate=OpenGate(), deadlines=Deadlines(start=15.0, call=15.0)
    ) as toolbox:
        for reason in toolbox.unavailable.values():
            print(f"no connection: {reason}", file=sys.stderr)
            return 1
        for spec in toolbox.specs:
            call = ToolCall("1", spec.wire_name, json.dumps(make_arguments(spec)))
            result = await toolbox.execute(call, report_progress=lambda text: None)
            print(f"{spec.name}: {result.content}", file=sys.stderr)
    return 0


def make_arguments(spec: ToolSpec) -> dict[str, JSON]:
    properties = spec.input_schema.get("properties")
    required = spec.input_schema.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return {}
    return {
        str(name): SAMPLES[str(schema.get("type"))]
        for name in required
        if isinstance(schema := properties.get(name), dict)
    }


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    sys.exit(asyncio.run(call_every_tool(sys.argv[-1])))
