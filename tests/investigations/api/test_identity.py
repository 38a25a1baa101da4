"""Who may ask, and whose headers count."""

import pytest
from django.test import Client

from investigations.access.identity import actor_of, is_own_origin, may_view
from investigations.models import AlertSession, ApiToken
from tests.factories import UserFactory

ALERT = b'{"data": "disk full"}'


def post(client: Client, **headers: str):
    return client.post("/api/v1/alerts", ALERT, content_type="application/json", headers=headers)


def author() -> str:
    return AlertSession.objects.get().author


def test_stranger_is_told_how_to_be_known(stranger):
    answer = stranger.get("/api/v1/sessions")

    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "Bearer" in answer.json()["message"]


@pytest.mark.parametrize("header", ["X-Forwarded-User", "X-Forwarded-Email", "X-Remote-User"])
def test_identity_headers_of_anybody_else_count_for_nothing(stranger, settings, header):
    settings.TRUSTED_PROXIES = ["192.0.2.0/24"]
    settings.IDENTITY_HEADERS = [header]

    assert post(stranger, **{header: "admin"}).status_code == 401


def test_identity_headers_of_a_trusted_proxy_name_the_author(stranger, settings):
    settings.TRUSTED_PROXIES = ["127.0.0.0/8"]
    settings.IDENTITY_HEADERS = ["X-Forwarded-User"]

    answer = post(stranger, **{"X-Forwarded-Email": "a@b.example", "X-Forwarded-User": "ada"})

    assert answer.status_code == 202
    assert author() == "ada"


def test_a_header_that_the_proxy_does_not_set_cannot_win(stranger, settings):
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    settings.IDENTITY_HEADERS = ["X-Forwarded-Email"]

    post(stranger, **{"X-Forwarded-Email": "ada", "X-Forwarded-User": "admin"})

    assert author() == "ada"
    assert post(stranger, **{"X-Forwarded-User": "admin"}).status_code == 401


def test_header_that_two_have_set_is_refused(stranger, settings):
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    settings.IDENTITY_HEADERS = ["X-Forwarded-User"]

    assert post(stranger, **{"X-Forwarded-User": "admin,ada"}).status_code == 401


def test_token_names_the_author_and_notes_its_use(stranger, token):
    answer = post(stranger, Authorization=f"Bearer {token}")

    assert answer.status_code == 202
    assert author() == "pagerduty"
    assert ApiToken.objects.get().last_used_at is not None


def test_only_the_hash_of_a_token_is_kept(token):
    stored = ApiToken.objects.get()

    assert token not in str(vars(stored))
    assert stored.token_hash == ApiToken.hash_of(token)


@pytest.mark.parametrize("header", ["Bearer tarsy_wrong", "Bearer", "Basic YTpi", "Bearer x"])
def test_wrong_token_is_refused_even_beside_a_login(stranger, header):
    stranger.force_login(UserFactory())

    assert stranger.get("/api/v1/sessions", headers={"Authorization": header}).status_code == 401


def test_revoked_token_and_token_of_a_left_user_are_refused(stranger, token):
    ask = {"Authorization": f"Bearer {token}"}
    stored = ApiToken.objects.get()

    stored.owner.is_active = False
    stored.owner.save()
    assert stranger.get("/api/v1/sessions", headers=ask).status_code == 401

    stored.owner.is_active = True
    stored.owner.save()
    assert stranger.get("/api/v1/sessions", headers=ask).status_code == 200

    ApiToken.objects.update(revoked_at=stored.created_at)
    assert stranger.get("/api/v1/sessions", headers=ask).status_code == 401


def test_login_may_post_from_our_own_page(stranger):
    stranger.force_login(UserFactory(username="ada"))

    assert post(stranger, Origin="http://localhost").status_code == 202
    assert author() == "ada"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://localhost@evil.example"},
        {"Origin": "http://localhost:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {},
    ],
)
def test_login_cannot_be_used_by_other_pages(stranger, headers):
    stranger.force_login(UserFactory())

    answer = post(stranger, **headers)

    assert answer.status_code == 403
    assert answer.json()["message"]
    assert not AlertSession.objects.exists()


def test_open_network_is_not_open_to_other_pages(api):
    assert post(api, Origin="https://evil.example").status_code == 403
    assert post(api).status_code == 202


def test_token_works_from_anywhere(stranger, token):
    answer = post(stranger, Authorization=f"Bearer {token}", Origin="https://tool.example")

    assert answer.status_code == 202


def test_unknown_host_is_refused(api):
    answer = api.get("/api/v1/sessions", headers={"host": "rebound.example"})

    assert answer.status_code == 400


def test_pages_know_the_actor(rf, settings):
    request = rf.get("/")

    settings.TARSY_AUTH = "login"
    assert (actor_of(request), may_view(request)) == ("", False)

    settings.TARSY_AUTH = "none"
    assert (actor_of(request), may_view(request)) == ("anonymous", True)

    request.user = UserFactory.build(username="ada")
    assert actor_of(request) == "ada"


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        ("https://tarsy.example", True),
        ("https://tarsy.example:443", False),
        ("https://TARSY.example", True),
        ("http://tarsy.example", False),
        ("https://listed.example", True),
        ("https://sub.listed.example", False),
        ("file://tarsy.example", False),
        ("", False),
    ],
)
def test_own_origins(settings, origin, own):
    settings.CSRF_TRUSTED_ORIGINS = ["https://listed.example"]

    assert is_own_origin(origin, host="tarsy.example", scheme="https") is own
