"""A tool server that changes something: it counts in a file how often each job was restarted.

While the file `hold` lies beside it, a restart is written down and not answered.
"""

import json
import sys
import threading
import time
from pathlib import Path

LEDGER = Path(sys.argv[1])
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TOOLS = [
    {
        "name": "jobs_list", "description": "Lists jobs.", "annotations": {"readOnlyHint": True},
        "inputSchema": {"type": "object", "properties": {}},
    },
    {"name": "job_get", "description": "Tells of a job.", "inputSchema": NAMED},
    {"name": "job_restart", "description": "Restarts a job.", "inputSchema": NAMED},
]  # fmt: skip
_writing = threading.Lock()


def call(name: str, arguments: dict[str, str]) -> str:
    if name != "job_restart":
        restarts = LEDGER.read_text().split() if LEDGER.exists() else []
        job = {"name": "import", "restarts": restarts.count("import")}
        return json.dumps(job if name == "job_get" else {"jobs": [job]})
    with _writing, LEDGER.open("a") as ledger:
        ledger.write(f"{arguments['name']}\n")
    while LEDGER.with_name("hold").exists():
        time.sleep(0.05)
    return f"{arguments['name']} restarted"


def answer(message: dict) -> dict | None:
    match message["method"]:
        case "initialize":
            version = message["params"]["protocolVersion"]
            return {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "jobs", "version": "1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            params = message["params"]
            said = call(params["name"], params.get("arguments") or {})
            return {"content": [{"type": "text", "text": said}], "isError": False}
    return None


def respond(message: dict) -> None:
    result = answer(message)
    reply: dict = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    if result is None:
        del reply["result"]
        reply["error"] = {"code": -32601, "message": "Method not found"}
    with _writing:
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


for line in sys.stdin:
    received = json.loads(line)
    if "id" in received:
        threading.Thread(target=respond, args=(received,), daemon=True).start()
