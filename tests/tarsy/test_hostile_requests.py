"""Requests that no browser sends are refused, and none is an error of ours."""

import pytest
from django.test import AsyncClient, Client

from investigations.services.login_links import make_login_link_token, use_login_link_token
from tests.factories import SessionFactory, UserFactory

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def stranger(settings) -> Client:
    settings.TARSY_AUTH = "login"
    return Client(headers={"host": "localhost"}, raise_request_exception=False)


@pytest.fixture
def person(stranger) -> Client:
    stranger.force_login(UserFactory(admin=True))
    return stranger


@pytest.mark.parametrize("path", ["/", "/login/", "/admin/", "/api/v1/sessions"])
@pytest.mark.parametrize("cookie", ['sessionid="a\\000b"', 'csrftoken="\\000"; sessionid="\\000"'])
def test_a_cookie_that_holds_no_text_is_a_bad_request(stranger, path, cookie):
    assert stranger.get(path, headers={"cookie": cookie}).status_code == 400


CHARSETS = ["hex", "unicode_escape", "latin-1", "rot13", "utf-16", "idna", "undefined", "zlib"]


@pytest.mark.parametrize("path", ["/login/", "/submit-alert/", "/admin/login/", "/logout/"])
@pytest.mark.parametrize("charset", CHARSETS)
def test_a_form_in_another_charset_is_a_bad_request(person, path, charset):
    kind = f"{FORM}; charset={charset}"

    answer = person.generic("POST", path, b"username=\\ud800&text=%41", kind)

    assert answer.status_code == 400


@pytest.mark.parametrize("charset", CHARSETS)
async def test_a_charset_does_not_matter_where_nothing_is_sent(settings, charset):
    settings.TARSY_AUTH = "none"
    client = AsyncClient(headers={"host": "localhost"}, raise_request_exception=False)
    headers = {"content-type": f"text/html; charset={charset}"}

    assert (await client.get("/login/?q=%41", headers=headers)).status_code < 400
    assert (await client.get("/api/v1/alert-types?q=%41", headers=headers)).status_code == 200


@pytest.mark.parametrize("charset", ["hex", "latin-1"])
def test_the_api_says_which_charset_it_reads(person, charset):
    answer = person.generic(
        "POST", "/api/v1/alerts", b'{"data": "x"}', f"application/json; charset={charset}",
        headers={"origin": "http://localhost"},
    )  # fmt: skip

    assert answer.status_code == 415
    assert "UTF-8" in answer.json()["message"]


@pytest.mark.parametrize("path", ["/", "/login/", "/submit-alert/", "/system/", "/nothing/"])
def test_an_address_that_holds_no_text_is_a_bad_request(person, path):
    assert person.get(f"{path}?status=%00").status_code == 400
    assert person.get(f"{path}?%00=1").status_code == 400


PAGES = ["/", "/fragments/active/", "/fragments/recent/", "/submit-alert/", "/system/", "/login/",
         "/sessions/{id}/", "/sessions/{id}/trace/", "/sessions/{id}/ask/", "/admin/",
         "/sessions/retry/?session={id}"]  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_a_page_answers_head_as_it_answers_get(person, path):
    address = path.format(id=SessionFactory(completed=True).pk)

    got, asked = person.get(address), person.head(address)

    assert asked.status_code == got.status_code < 400
    assert asked.content == b""


def test_looking_at_a_login_link_does_not_use_it_up(stranger):
    token = make_login_link_token(UserFactory())

    assert stranger.head(f"/login/link/{token}/").status_code == 405

    assert use_login_link_token(token) is not None


def test_a_form_that_is_too_large_is_told_the_limit(person):
    large = person.generic("POST", "/submit-alert/", b"text=" + b"x" * (2 * 1024 * 1024), FORM)

    assert large.status_code == 413
    assert "2.0\xa0MB" in large.content.decode()


async def test_a_form_in_another_charset_is_a_bad_request_under_asgi_too(settings):
    settings.TARSY_AUTH = "login"
    client = AsyncClient(headers={"host": "localhost"}, raise_request_exception=False)

    answer = await client.generic("POST", "/login/", b"a=%41", f"{FORM}; charset=hex")

    assert answer.status_code == 400
