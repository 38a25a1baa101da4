"""A tool server over stdio whose one write leaves a line in a file, so that a second one is seen.

The file is the one that `TARSY_CHAOS_MARKS` names. It starts within milliseconds, without the SDK.
"""

import json
import os
import sys
import time
from pathlib import Path

FILE_VARIABLE = "TARSY_CHAOS_MARKS"
WRITE_SECONDS = 0.8
"""How long a mark takes, half of it before the line is there: time to be killed in."""
_NAME = {"type": "string"}
_TOOLS = [
    {
        "name": "list",
        "description": "The marks that can be made, and whether this one is.",
        "inputSchema": {"type": "object", "properties": {"name": _NAME}, "required": ["name"]},
    },
    {
        "name": "make",
        "description": "Make a mark.",
        "inputSchema": {"type": "object", "properties": {"name": _NAME}, "required": ["name"]},
    },
]


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            said = {"jsonrpc": "2.0", "id": asked["id"], **_answer(asked)}
            print(json.dumps(said), flush=True)


def _answer(asked: dict[str, object]) -> dict[str, object]:
    parameters = asked.get("params")
    given = parameters if isinstance(parameters, dict) else {}
    match asked["method"]:
        case "initialize":
            return {
                "result": {
                    "protocolVersion": given.get("protocolVersion", "2025-06-18"),
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "marks", "version": "1"},
                }
            }
        case "tools/list":
            return {"result": {"tools": _TOOLS}}
        case "tools/call":
            return {"result": _call(str(given["name"]), str(given["arguments"]["name"]))}
        case "ping":
            return {"result": {}}
    return {"error": {"code": -32601, "message": f"there is no {asked['method']}"}}


def _call(tool: str, name: str) -> dict[str, object]:
    if tool == "make":
        time.sleep(WRITE_SECONDS / 2)
        with Path(os.environ[FILE_VARIABLE]).open("a", encoding="utf-8") as marks:
            marks.write(f"{name}\n")
        time.sleep(WRITE_SECONDS / 2)
        said: dict[str, object] = {"made": name}
    else:
        said = {"items": [{"name": name}]}
    text = json.dumps(said)
    return {"content": [{"type": "text", "text": text}], "structuredContent": said}


if __name__ == "__main__":
    main()
