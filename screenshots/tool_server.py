"""A tool server whose answers are written down: `python tool_server.py ANSWERS.yaml`.

It knows no machine. What a call of it brings is the first answer in the file that fits the call;
one with `after` fits only when that tool has been called before.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


class Server:
    def __init__(self, tools: Mapping[str, Any], answers: list[dict[str, Any]]) -> None:
        self._tools = tools
        self._answers = answers
        self._called: set[str] = set()

    def respond(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        match method:
            case "initialize":
                return {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "fleet", "version": "1"},
                }
            case "tools/list":
                return {"tools": [_describe(name, tool) for name, tool in self._tools.items()]}
            case "tools/call":
                return self._call(params["name"], params.get("arguments") or {})
        return None

    def _call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        answer = next((each for each in self._answers if self._fits(each, name, arguments)), None)
        self._called.add(name)
        if answer is None:
            return _content(f"{name} knows nothing of {json.dumps(arguments)}", is_error=True)
        return _content(answer["says"], is_error=bool(answer.get("is_error")))

    def _fits(self, answer: Mapping[str, Any], name: str, arguments: Mapping[str, Any]) -> bool:
        after = answer.get("after")
        wanted = answer.get("arguments", {})
        return (
            answer["tool"] == name
            and (after is None or after in self._called)
            and wanted.items() <= arguments.items()
        )


def _describe(name: str, tool: Mapping[str, Any]) -> dict[str, Any]:
    named: list[str] = tool["arguments"]
    properties = {each: {"type": "string"} for each in named}
    schema = {"type": "object", "properties": properties, "required": named}
    described = {"name": name, "description": tool["description"], "inputSchema": schema}
    return described | {"annotations": {"readOnlyHint": not tool.get("writes", False)}}


def _content(text: str, *, is_error: bool) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def main() -> None:
    written = yaml.safe_load(Path(sys.argv[1]).read_text(encoding="utf-8"))
    server = Server(written["tools"], written["answers"])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = server.respond(message["method"], message.get("params") or {})
        unknown = {"error": {"code": -32601, "message": "Method not found"}}
        outcome = unknown if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)


if __name__ == "__main__":
    main()
