"""Requests made up from the OpenAPI document, good and bad: no answer is a surprise."""

from collections.abc import Iterator

import pytest
import schemathesis
from django.conf import settings as django_settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.factories import (
    ApprovalRequestFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
)
from tests.investigations.api.test_reading import make_rich_session

pytestmark = pytest.mark.slow

DOCUMENT = schemathesis.openapi.from_path(django_settings.BASE_DIR / "docs" / "openapi.yaml")
OPERATIONS = [found.ok() for found in DOCUMENT.get_all_operations()]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 5
"""Of each kind, for each operation."""


@pytest.fixture
def application(static_root: None) -> Iterator[WSGIHandler]:
    """The web application itself, middleware and all, without a server around it.

    Like Django's own test client it leaves the test's connection to the database open.
    """
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield WSGIHandler()
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def known(api) -> dict[str, str]:
    """Ids of rows that are there: made-up ones would meet a 404 at every door."""
    session = make_rich_session()
    execution = session.executions.first()
    assert execution is not None
    models = LLMInteractionFactory(execution=execution)
    MCPInteractionFactory(execution=execution)
    return {
        "session_id": str(session.pk),
        "approval_id": str(ApprovalRequestFactory().pk),
        "interaction_id": str(models.pk),
    }


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_request_is_answered_otherwise_than_the_document_says(
    application: WSGIHandler, known: dict[str, str], operation: APIOperation, mode: GenerationMode
):
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode), st.booleans())
    def ask(case: Case, is_known: bool) -> None:
        for name in known.keys() & (case.path_parameters or {}).keys():
            case.path_parameters[name] = known[name] if is_known else case.path_parameters[name]
        answer = case.call(base_url="http://localhost", app=application)
        case.validate_response(answer, checks=CHECKS)

    ask()
