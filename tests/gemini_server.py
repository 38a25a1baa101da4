"""Google's API before a rehearsal: translates requests and answers, so that one script plays both.

What is asked is found in the rehearsal's own log, as if it had come in OpenAI's words.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

SIGNATURE = "c2lnbmVkIGJ5IGdvb2dsZQ=="
"""What Google signs the thoughts before a call with, and wants back."""


class GeminiServer:
    """`url` is the base address for a provider of the type `google`."""

    def __init__(self, rehearsal_url: str) -> None:
        self.bodies: list[dict[str, Any]] = []
        """What was asked, in Google's own words."""
        self.signatures_back: list[str] = []
        self._rehearsal_url = rehearsal_url
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.05)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Ask the rehearsal and give its answer in Google's words."""
        self.bodies.append(body)
        model = path.partition("models/")[2].partition(":")[0]
        request = {"model": model, "messages": [*self._read(body)], "tools": _read_tools(body)}
        answer = httpx.post(f"{self._rehearsal_url}/chat/completions", json=request, timeout=60)
        if answer.status_code != 200:
            return answer.status_code, {"error": {"message": answer.text}}
        return 200, _write_answer(answer.json())

    def _read(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        system = body.get("system_instruction") or body.get("systemInstruction")
        if system:
            yield {"role": "system", "content": _join_text(system["parts"])}
        for content in body["contents"]:
            parts = content["parts"]
            results = [part for part in parts if "function_response" in part]
            if results:
                yield from (_read_result(part["function_response"]) for part in results)
                continue
            self.signatures_back += [
                p["thoughtSignature"] for p in parts if "thoughtSignature" in p
            ]
            role = "assistant" if content["role"] == "model" else "user"
            calls = [_read_call(part["function_call"]) for part in parts if "function_call" in part]
            message = {"role": role, "content": _join_text(parts)}
            yield message | ({"tool_calls": calls} if calls else {})

    def _make_handler(self) -> type[BaseHTTPRequestHandler]:
        gemini = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, answer = gemini.answer(self.path, body)
                text = json.dumps(answer)
                is_stream = status == 200
                data = (f"data: {text}\n\n" if is_stream else text).encode()
                self.send_response(status)
                kind = "text/event-stream" if is_stream else "application/json"
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


@contextmanager
def run_gemini_server(rehearsal_url: str) -> Iterator[GeminiServer]:
    server = GeminiServer(rehearsal_url)
    thread = threading.Thread(target=server.serve, name="gemini", daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(5)


def _join_text(parts: list[dict[str, Any]]) -> str:
    return "".join(part.get("text", "") for part in parts)


def _read_call(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": json.dumps(call["args"])}
    return {"id": _id_of(call), "type": "function", "function": function}


def _read_result(result: dict[str, Any]) -> dict[str, Any]:
    content = result["response"]
    text = content["content"] if "content" in content else json.dumps(content)
    return {"role": "tool", "tool_call_id": _id_of(result), "content": text}


def _id_of(part: dict[str, Any]) -> str:
    return str(part.get("id") or part["name"])


def _read_tools(body: dict[str, Any]) -> list[dict[str, Any]]:
    declared = [
        tool for each in body.get("tools", ()) for tool in each.get("function_declarations", ())
    ]
    return [{"type": "function", "function": {"name": tool["name"]}} for tool in declared]


def _write_answer(answer: dict[str, Any]) -> dict[str, Any]:
    message = answer["choices"][0]["message"]
    parts: list[dict[str, Any]] = []
    if message.get("reasoning_content"):
        parts.append({"text": message["reasoning_content"], "thought": True})
    if message.get("content"):
        parts.append({"text": message["content"]})
    for call in message.get("tool_calls", ()):
        function = call["function"]
        call = {"name": function["name"], "args": json.loads(function["arguments"])}
        parts.append({"functionCall": call, "thoughtSignature": SIGNATURE})
    usage = answer["usage"]
    thinking = usage["completion_tokens_details"]["reasoning_tokens"]
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": usage["prompt_tokens"],
            # Google counts what was thought beside what was said.
            "candidatesTokenCount": usage["completion_tokens"] - thinking,
            "thoughtsTokenCount": thinking,
            "totalTokenCount": usage["total_tokens"],
        },
    }
