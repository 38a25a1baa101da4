"""A tool server that gives secrets away: in its descriptions, its results and its errors.

Its first argument names a JSON file with what to say: `description`, `schema`, `result`, `error`.
"""

import json
import sys
from pathlib import Path

READ = {"readOnlyHint": True, "title": "Shows what there is"}


def text(said, is_error=False):
    return {"content": [{"type": "text", "text": said}], "isError": is_error}


def list_tools(said):
    note = {"type": "string", "description": said["schema"]}
    schema = {"type": "object", "properties": {"note": note}}
    tools = [
        {"name": "read", "description": said["description"], "inputSchema": schema},
        {"name": "fail", "description": "Fails.", "inputSchema": schema},
        {"name": "echo", "description": "Says it again.", "inputSchema": schema},
    ]
    return {"tools": [tool | {"annotations": READ} for tool in tools]}


def call(said, params):
    match params["name"]:
        case "read":
            return text(said["result"])
        case "fail":
            return text(said["error"], is_error=True)
    return text(json.dumps(params.get("arguments")))


def answer(said, message):
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "leaky", "version": "1"},
                "instructions": said["description"],
            }
        case "tools/list":
            return list_tools(said)
        case "tools/call":
            return call(said, message["params"])
    return {}


def main():
    said = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": answer(said, message)}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
