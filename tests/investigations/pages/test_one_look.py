"""Login, administration and errors are pages of the same product."""

from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from tests.factories import SessionFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/login/", "/admin/login/", "/nowhere/"])
def test_a_stranger_meets_the_same_bar_and_font_everywhere(client, path):
    page = client.get(path).content.decode()

    assert 'class="t-top"' in page
    assert "fonts/inter-latin.woff2" in page
    assert "Sign in" in page
    assert "Log in" not in page


def test_the_administration_has_the_bar_of_the_product(client):
    client.force_login(UserFactory(admin=True))

    page = client.get("/admin/").content.decode()

    assert 'class="t-top"' in page
    assert "Welcome," not in page
    assert 'href="/admin/password_change/"' in page


def test_who_may_not_use_the_administration_is_told_so(client):
    client.force_login(UserFactory(username="ana"))

    page = client.get("/admin/", follow=True).content.decode()

    assert "You are signed in as ana, who may not use the administration" in page


def test_the_font_is_ours_and_comes_with_its_licence():
    font = Path(finders.find("investigations/fonts/inter-latin.woff2"))

    assert font.read_bytes()[:4] == b"wOF2"
    assert "SIL Open Font License" in (font.parent / "OFL.txt").read_text()


def test_a_conclusion_begins_as_it_was_written(client):
    client.force_login(UserFactory())
    SessionFactory(completed=True, final_analysis="payments-api leaks memory.")

    assert "payments-api leaks memory." in client.get("/").content.decode()
