"""A tool server of a hundred lines, without the SDK, that also knows how to misbehave.

Its first argument is what it does: normal, hang, exit, odd, told, pages, loop, jobs, storm.
"""

import json
import os
import sys
import threading
import time

READ = {"readOnlyHint": True, "title": "Shows what there is"}
ANY = {"type": "object", "properties": {}}
TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
    "required": ["text"],
    "additionalProperties": False,
}
ODD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "next": {"$ref": "#/$defs/node"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }
    },
    "properties": {
        "tree": {"$ref": "#/$defs/node"},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 5},
        "untyped": {"description": "any\u001b[31mthing\u200b"},
        "list": {"type": "array"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "mode": {"enum": [1, 2]},
        "remote": {"$ref": "https://schemas.example.com/x.json"},
    },
}

TOLD = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {"type": "string", "description": "such as password=Ex4mple-Desc2"},
        }
    },
}


def tool(name, schema=ANY, annotations=READ, description="A tool."):
    shown = {"name": name, "description": description, "inputSchema": schema}
    return shown | ({"annotations": annotations} if annotations else {})


TOOLS = {
    "normal": [
        tool("echo", TEXT),
        tool("environment"),
        tool("flood"),
        tool("lines"),
        tool("sleep"),
        tool("die"),
        tool("secret"),
        tool("refuse"),
        tool("progress"),
        tool("everything"),
        tool("broken"),
        tool("delete", TEXT, None),
    ],
    "odd": [
        tool("odd", ODD, description="odd\u202e \u001b[1mone\u001b[0m"),
        tool("dotted.name"),
        tool("n" * 100),
        tool("-leading"),
        tool("bad name"),
    ],
}
TOOLS["told"] = [tool("told", TOLD, description="For example password=Ex4mple-Desc1")]
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TOOLS["jobs"] = [tool("jobs_list"), tool("job_restart", NAMED, None)]
TOOLS["pages"] = [tool(f"tool_{number:03}") for number in range(30)]
TOOLS["loop"] = TOOLS["pages"]
STORM = 999
ROUNDS = []
"""One entry for each list of which a server in a storm told that it holds no longer."""


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def text(said, is_error=False):
    return {"content": [{"type": "text", "text": said}], "isError": is_error}


def storm():
    """Other tools in each round, and one that stays."""
    number = len(ROUNDS)
    names = [f"tool_{number:03}_{place:03}" for place in range(STORM)]
    return [tool("look"), *(tool(name, description=f"Shows {name}. " * 8) for name in names)]


def list_tools(mode, params):
    tools = storm() if mode == "storm" else TOOLS[mode]
    if mode not in ("pages", "loop"):
        return {"tools": tools}
    start = int(params.get("cursor") or 0)
    more = start + 10 < len(tools) or mode == "loop"
    cursor = {"nextCursor": str((start + 10) % len(tools))} if more else {}
    return {"tools": tools[start : start + 10]} | cursor


def call(message):
    params = message["params"]
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "die":
        sys.stderr.write("going down\n")
        os._exit(3)
    if name == "sleep":
        time.sleep(60)
    if name == "look":
        ROUNDS.append(name)
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    if name == "progress":
        token = params.get("_meta", {}).get("progressToken")
        note = {"progressToken": token, "progress": 1, "total": 2, "message": "half\u001b[0m way"}
        send({"jsonrpc": "2.0", "method": "notifications/progress", "params": note})
    results = {
        "echo": lambda: text(arguments["text"] * arguments.get("times", 1)),
        "environment": lambda: text(json.dumps(dict(os.environ))),
        "flood": lambda: text("x" * 3_000_000),
        "lines": lambda: text(
            "\n".join(f"line {number}" for number in range(20_000)),
            is_error="fails" in arguments,
        ),
        "secret": lambda: text('{"password": "Ex4mple-Pass", "host": "db-1"}'),
        "refuse": lambda: text("no such pod; token=abcd1234efgh5678", is_error=True),
        "progress": lambda: text("done"),
        "everything": everything,
        "broken": lambda: {"content": "not a list"},
        "delete": lambda: text("deleted"),
        "jobs_list": lambda: text('{"jobs": [{"name": "import", "restarts": 3}]}'),
    }
    return results.get(name, lambda: text(json.dumps(arguments)))()


def everything():
    return {
        "content": [
            {"type": "text", "text": "\u001b[31mred\u001b[0m\u200b text"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "audio", "data": "AAAAAAAA", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a.log", "text": "inner text"}},
            {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAAA"}},
            {"type": "resource_link", "uri": "file:///b.log", "name": "b", "size": 12},
        ],
        "structuredContent": {"rows": [1, 2]},
    }


def answer(mode, message):
    method = message.get("method")
    if method == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": mode == "storm"}},
            "serverInfo": {"name": "test", "version": "1"},
            "instructions": "Ask \u001b[1mnicely\u001b[0m. password=Ex4mple-Inst1",
        }
    if method == "tools/list":
        return list_tools(mode, message.get("params") or {})
    if method == "tools/call":
        return call(message)
    return None


def respond(mode, message):
    result = answer(mode, message)
    if result is None:
        error = {"code": -32601, "message": "Method not found"}
        send({"jsonrpc": "2.0", "id": message["id"], "error": error})
        return
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def main(mode):
    if mode == "exit":
        sys.exit("cannot start: api_key=abcd1234efgh5678ijkl")
    for line in sys.stdin:
        message = json.loads(line)
        if mode == "hang" or "id" not in message:
            continue
        threading.Thread(target=respond, args=(mode, message), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1])
