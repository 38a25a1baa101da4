"""The OpenAPI document tells the truth about the answers."""

from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from tests.factories import SessionFactory, TimelineEventFactory
from tests.investigations.api.test_reading import make_rich_session


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return SchemaGenerator().get_schema(request=None, public=True)


def resolve(node: Any, document: dict[str, Any]) -> Any:
    """OpenAPI 3.0 as JSON Schema: references followed, `nullable` spelled out."""
    if isinstance(node, list):
        return [resolve(item, document) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return resolve(document["components"]["schemas"][name], document)
    plain = {key: resolve(value, document) for key, value in node.items() if key != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if node.get("nullable") else plain


def check(document: dict[str, Any], path: str, method: str, answer: Any) -> None:
    responses = document["paths"][path][method]["responses"]
    schema = responses[str(answer.status_code)]["content"]["application/json"]["schema"]
    Draft202012Validator(resolve(schema, document)).validate(answer.json())


def test_document_is_valid_and_lists_every_endpoint(document):
    validate_schema(document)

    assert {path.removeprefix("/api/v1") for path in document["paths"]} == {
        "/alerts",
        "/alert-types",
        "/runbooks",
        "/system/warnings",
        "/system/mcp-servers",
        "/system/default-tools",
        "/sessions",
        "/sessions/active",
        "/sessions/{session_id}",
        "/sessions/{session_id}/status",
        "/sessions/{session_id}/timeline",
        "/sessions/{session_id}/evidence",
        "/sessions/{session_id}/cancel",
        "/sessions/{session_id}/chat/messages",
    }


def test_answers_are_as_the_document_says(api, submit, document):
    session = make_rich_session()
    SessionFactory()
    TimelineEventFactory()
    base = "/api/v1/sessions"

    check(document, base, "get", api.get(base))
    check(document, base, "get", api.get(base, {"status": "x"}))
    check(document, f"{base}/active", "get", api.get(f"{base}/active"))
    for end in ("", "/status", "/timeline"):
        path = f"{base}/{{session_id}}{end}"
        check(document, path, "get", api.get(f"{base}/{session.pk}{end}"))
    cancel = f"{base}/{{session_id}}/cancel"
    check(document, cancel, "post", api.post(f"{base}/{session.pk}/cancel"))
    check(document, cancel, "post", api.post(f"{base}/{SessionFactory().pk}/cancel"))
    check(document, "/api/v1/alert-types", "get", api.get("/api/v1/alert-types"))
    check(document, "/api/v1/runbooks", "get", api.get("/api/v1/runbooks"))
    for end in ("warnings", "mcp-servers", "default-tools"):
        path = f"/api/v1/system/{end}"
        check(document, path, "get", api.get(path))
    defaults = "/api/v1/system/default-tools"
    check(document, defaults, "get", api.get(defaults, {"alert_type": "nothing"}))
    check(document, "/api/v1/alerts", "post", submit({"data": "x"}))
    check(document, "/api/v1/alerts", "post", submit({"data": ""}))


def test_document_and_its_page_are_served(api):
    assert api.get("/api/schema/").status_code == 200
    page = api.get("/api/docs/")

    assert page.status_code == 200
    assert "/static/drf_spectacular_sidecar/" in page.content.decode()
    assert "'unsafe-inline'" in page.headers["Content-Security-Policy"]
    other = api.get("/api/v1/sessions").headers["Content-Security-Policy"]
    assert "unsafe" not in other
