"""`manage.py create_token` and `revoke_token`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from investigations.models import ApiToken, AuditEvent
from investigations.services.tokens import find_token
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
def test_command_refuses_unknown_owners_and_second_tokens_of_a_name():
    with pytest.raises(CommandError, match="no active user"):
        call_command("create_token", "a", owner="nobody")

    UserFactory(username="ada")
    call_command("create_token", "a", owner="ada", stdout=StringIO(), stderr=StringIO())
    with pytest.raises(CommandError, match="revoke it first"):
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
