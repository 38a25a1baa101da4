"""`manage.py create_token` and `revoke_token`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from investigations.models import ApiToken, AuditEvent
from investigations.selectors.tokens import find_token
from investigations.services.tokens import create_token
from tarsy.errors import InvalidInput
from tests.factories import UserFactory


@pytest.mark.django_db
def test_command_prints_a_token_that_works_and_writes_it_down():
    UserFactory(username="ada")
    out = StringIO()

    call_command("create_token", "alertmanager", owner="ada", stdout=out, stderr=StringIO())

    found = find_token(out.getvalue().strip())
    assert found is not None
    assert (found.name, found.owner.username) == ("alertmanager", "ada")
    assert AuditEvent.objects.get().action == "token.create"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asked", "given"), [(None, ["read", "submit"]), (["approve", "read"], ["approve", "read"])]
)
def test_command_gives_the_scopes_that_are_asked_for(asked, given):
    UserFactory(username="ada")
    more = {"scopes": asked} if asked else {}

    call_command("create_token", "a", owner="ada", stdout=StringIO(), stderr=StringIO(), **more)

    assert ApiToken.objects.get().scopes == given
    assert AuditEvent.objects.get().details["scopes"] == given


@pytest.mark.django_db
@pytest.mark.parametrize("scopes", [[], ["all"], ["read", ""]])
def test_a_token_has_scopes_that_are_known(scopes):
    with pytest.raises(InvalidInput, match="read, submit, operate, approve"):
        create_token(owner=UserFactory(), name="a", actor="test", scopes=scopes)


@pytest.mark.django_db
def test_command_refuses_unknown_owners_and_second_tokens_of_a_name():
    with pytest.raises(CommandError, match="no active user"):
        call_command("create_token", "a", owner="nobody")

    UserFactory(username="ada")
    call_command("create_token", "a", owner="ada", stdout=StringIO(), stderr=StringIO())
    with pytest.raises(
        CommandError, match=r"revoke it first: .* manage\.py revoke_token a --owner ada$"
    ):
        call_command("create_token", "a", owner="ada")

    assert ApiToken.objects.count() == 1


@pytest.mark.django_db
def test_revoked_token_is_refused_and_its_name_is_free_again(token):
    stored = find_token(token)
    assert stored is not None
    owner = stored.owner.username

    call_command("revoke_token", "pagerduty", owner=owner, stdout=StringIO())

    assert find_token(token) is None
    call_command("create_token", "pagerduty", owner=owner, stdout=StringIO(), stderr=StringIO())
    with pytest.raises(CommandError, match="no token named"):
        call_command("revoke_token", "other", owner=owner)
