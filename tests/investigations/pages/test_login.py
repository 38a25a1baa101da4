from datetime import timedelta

import pytest
from django.core import signing
from django.utils import timezone

from investigations.services.login_links import make_login_link_token
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def test_the_login_page_lets_a_person_in_and_back_to_where_they_were(client):
    UserFactory(username="ana", password="a long enough secret")

    answer = client.post(
        "/login/",
        {"username": "ana", "password": "a long enough secret", "next": "/?status=failed"},
    )

    assert answer.url == "/?status=failed"
    assert client.get("/").status_code == 200


def test_a_wrong_password_is_refused_with_a_word(client):
    UserFactory(username="ana")

    page = client.post("/login/", {"username": "ana", "password": "wrong"}).content.decode()

    assert "Name and password do not fit together" in page


def test_a_login_link_works_once(client):
    token = make_login_link_token(UserFactory())

    first = client.get(f"/login/link/{token}/?next=/sessions/")
    client.logout()
    second = client.get(f"/login/link/{token}/")

    assert first.url == "/sessions/"
    assert second.status_code == 403
    assert "used up" in second.content.decode()
    assert client.get("/").status_code == 302


def test_who_may_read_without_a_login_is_told_that_a_link_is_used_up(client, settings):
    settings.TARSY_AUTH = "none"

    answer = client.get("/login/link/used/?next=/sessions/", follow=True)

    assert answer.status_code == 403
    said = answer.content.decode()
    assert "This login link is used up" in said
    assert 'href="/sessions/">Read without signing in' in said
    assert 'href="/login/?next=/sessions/">Sign in' in said


def test_who_is_logged_in_already_goes_where_a_used_link_leads(client):
    client.force_login(UserFactory())

    assert client.get("/login/link/used/?next=/sessions/").url == "/sessions/"


def test_a_login_link_of_a_person_who_logged_in_before_works(client):
    user = UserFactory(last_login=timezone.now() - timedelta(days=1))

    assert client.get(f"/login/link/{make_login_link_token(user)}/").status_code == 302
    assert client.get("/").status_code == 200


def test_a_login_link_ends_after_an_hour(client, monkeypatch):
    token = make_login_link_token(UserFactory())
    later = timezone.now().timestamp() + 3601
    monkeypatch.setattr(signing.time, "time", lambda: later)

    assert client.get(f"/login/link/{token}/").status_code == 403


def test_a_closed_account_cannot_use_its_link(client):
    user = UserFactory()
    token = make_login_link_token(user)
    user.is_active = False
    user.save()

    assert client.get(f"/login/link/{token}/").status_code == 403


@pytest.mark.parametrize("token", ["x", "a:b:c", "../..", "é"])
def test_a_false_token_is_refused(client, token):
    assert client.get(f"/login/link/{token}/").status_code in (403, 404)


@pytest.mark.parametrize(
    "target", ["https://evil.example.net/", "//evil.example.net", "javascript:alert(1)", ""]
)
def test_a_login_link_stays_on_this_site(client, target):
    token = make_login_link_token(UserFactory())

    assert client.get(f"/login/link/{token}/", {"next": target}).url == "/"


def test_logging_out_needs_a_form_and_ends_the_login(viewer):
    assert viewer.get("/logout/").status_code == 405
    assert viewer.post("/logout/").url == "/login/"
    assert viewer.get("/").status_code == 302
