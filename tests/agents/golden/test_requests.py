"""What is really sent to each type of provider, word for word.

After a wanted change, run with UPDATE_GOLDEN=1 and read the difference before keeping it.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from agents.llm.client import make_llm
from agents.llm.via_litellm import ViaLitellm
from agents.ports import LLM, LLMOptions
from tarsy.errors import LLMError
from tests.agents.doubles import READ_ONLY
from tests.agents.golden.cases import CASES, Case
from tests.agents.wire_server import WireServer, refuse

pytestmark = [pytest.mark.filterwarnings(READ_ONLY), pytest.mark.slow]

REQUESTS = Path(__file__).parent / "requests"
OPTIONS = LLMOptions(first_chunk_timeout=20, stall_timeout=20, call_timeout=30)
KEPT_HEADERS = (
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "anthropic-version",
    "anthropic-beta",
    "content-type",
)


class _GiveToken(BaseHTTPRequestHandler):
    """Stands for Google's: gives a token to a service account."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        token = {"access_token": "secret-token", "expires_in": 3600, "token_type": "Bearer"}
        body = json.dumps(token).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def token_url() -> Iterator[str]:
    # In a thread of its own: it is asked synchronously, from the event loop.
    with ThreadingHTTPServer(("127.0.0.1", 0), _GiveToken) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/token"
        server.shutdown()


@pytest.fixture
def credentials(token_url: str) -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return json.dumps(
        {
            "type": "service_account",
            "project_id": "project-1",
            "private_key_id": "1",
            "private_key": pem,
            "client_email": "tarsy@project-1.iam.gserviceaccount.com",
            "client_id": "1",
            "token_uri": token_url,
        }
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_provider_is_sent_exactly_the_kept_request(
    case: Case, wire: WireServer, credentials: str
):
    if case.type == "vertexai":
        pytest.importorskip("google.auth", reason="NO google-auth HERE: Vertex AI was not tried")
    wire.plays = [refuse(400, {"error": {"message": "seen"}})]
    settings = case.make_settings(wire.base_url, credentials)
    llm = make_llm(settings) if case.is_direct else ViaLitellm(settings)

    with pytest.raises(LLMError):
        await read_through(llm, case)

    sent = normalise(wire.paths[0], wire.headers[0], wire.requests[0])
    kept = REQUESTS / f"{case.name}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        kept.write_text(json.dumps(sent, indent=2, ensure_ascii=False, sort_keys=True) + "\n")
        pytest.fail("written; read the difference and run again without UPDATE_GOLDEN")
    assert sent == json.loads(kept.read_text(encoding="utf-8"))


def test_every_kept_request_belongs_to_a_case():
    assert {path.stem for path in REQUESTS.glob("*.json")} == {case.name for case in CASES}


async def read_through(llm: LLM, case: Case) -> None:
    async with aclosing(llm.stream(case.messages, case.tools, OPTIONS)) as events:
        async for _ in events:
            pass


def normalise(path: str, headers: Mapping[str, str], body: Any) -> dict[str, Any]:
    """The request without what differs between machines; secrets become words."""
    return {
        "path": path,
        "headers": {
            name: headers[name].replace("secret-key", "KEY").replace("secret-token", "TOKEN")
            for name in KEPT_HEADERS
            if name in headers
        },
        "body": body,
    }
