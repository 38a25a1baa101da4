"""`manage.py create_token NAME --owner USER [--scope S]...`: a token for a machine, shown once."""

import shlex
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from investigations.models import ApiToken
from investigations.services.tokens import create_token
from tarsy.errors import Conflict, InvalidInput

_USUAL = (ApiToken.Scope.READ, ApiToken.Scope.SUBMIT)


class Command(BaseCommand):
    help = "Make an API token and print it once; only its hash is kept."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="who acts with it, as it appears as author of alerts")
        parser.add_argument("--owner", required=True, help="the user it belongs to")
        parser.add_argument(
            "--scope", action="append", choices=ApiToken.Scope.values, dest="scopes",
            help="what it may be used for; may be repeated; default: read and submit",
        )  # fmt: skip

    @override
    def handle(self, *_args: Any, **options: Any) -> None:
        owner = User.objects.filter(username=options["owner"], is_active=True).first()
        if owner is None:
            raise CommandError(f'there is no active user "{options["owner"]}"')
        try:
            token = create_token(
                owner=owner,
                name=options["name"],
                actor="manage.py",
                scopes=options["scopes"] or _USUAL,
            )
        except InvalidInput as error:
            raise CommandError(str(error)) from error
        except Conflict as error:
            revoke = ("manage.py", "revoke_token", options["name"], "--owner", owner.username)
            raise CommandError(f"{error}: .venv/bin/python {shlex.join(revoke)}") from error
        self.stdout.write(token)
        self.stderr.write("Keep it now, it is not shown again.")
