"""The form of an answer is chosen as Django REST framework chooses it, only sooner."""

import pytest
from django.http import Http404
from rest_framework.exceptions import APIException, NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from investigations.api.negotiation import QuickNegotiation
from investigations.api.webhooks import SourceView

ACCEPTED = (
    None, "", "*/*", "application/json", "application/json; indent=4", "application/*;q=0.5",
    "text/html", "text/html,*/*;q=0.1", "nonsense", "*/*; charset=utf-8",
)  # fmt: skip


@pytest.mark.parametrize("accepted", ACCEPTED)
@pytest.mark.parametrize("query", ["", "?format=json", "?format=xml", "?format="])
def test_the_form_is_the_same_and_so_is_the_refusal(accepted, query):
    headers = {} if accepted is None else {"HTTP_ACCEPT": accepted}
    request = Request(APIRequestFactory().get(f"/{query}", **headers))

    chosen = [_choose(each, request) for each in (QuickNegotiation(), DefaultContentNegotiation())]

    assert chosen[0] == chosen[1]


def test_a_form_that_nobody_writes_is_refused_by_the_views_themselves():
    request = Request(APIRequestFactory().get("/", HTTP_ACCEPT="text/html"))

    negotiation = SourceView().get_content_negotiator()

    assert isinstance(negotiation, QuickNegotiation)
    assert _choose(negotiation, request) is NotAcceptable


def _choose(negotiation: DefaultContentNegotiation, request: Request) -> object:
    try:
        renderer, media_type = negotiation.select_renderer(request, [JSONRenderer()])
    except (APIException, Http404) as error:
        return type(error)
    return type(renderer), media_type
