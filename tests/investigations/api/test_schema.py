"""The OpenAPI document tells the truth about the answers."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from investigations.api.urls import urlpatterns
from tests.factories import (
    LLMInteractionFactory,
    MCPInteractionFactory,
    SessionFactory,
    TimelineEventFactory,
)
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

    routes = {
        "/api/" + re.sub(r"<\w+:(\w+)>", r"{\1}", pattern).removeprefix("/")
        for pattern in _patterns(urlpatterns)
    }
    # The document itself, its page, and the answer to whatever is not there.
    assert set(document["paths"]) == routes - {"/api/schema/", "/api/docs/", "/api/"}


def _patterns(routes: Iterable[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    for route in routes:
        here = before + str(route.pattern)
        if isinstance(route, URLResolver):
            yield from _patterns(route.url_patterns, here)
        else:
            yield here


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
    for end in ("summary", "trace", "memories", "injected-memories", "score", "evidence"):
        path = f"{base}/{{session_id}}/{end}"
        check(document, path, "get", api.get(f"{base}/{session.pk}/{end}"))
    check(document, f"{base}/filter-options", "get", api.get(f"{base}/filter-options"))
    for kind, make in (("llm", LLMInteractionFactory), ("mcp", MCPInteractionFactory)):
        call = make()
        path = f"{base}/{{session_id}}/trace/{kind}/{{interaction_id}}"
        url = f"{base}/{call.session_id}/trace/{kind}/{call.pk}"
        check(document, path, "get", api.get(url))
    usage = "/api/v1/usage/summary"
    window = {"start_date": "2026-11-01T00:00:00Z", "end_date": "2027-10-01T00:00:00Z"}
    check(document, usage, "get", api.get(usage, window))
    check(document, usage, "get", api.get(usage))
    check(document, "/api/v1/system/config", "get", api.get("/api/v1/system/config"))
    check(document, "/api/v1/memories", "get", api.get("/api/v1/memories"))
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
