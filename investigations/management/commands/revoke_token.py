"""`manage.py revoke_token NAME --owner USER`: a token stops working at once."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from investigations.services.tokens import revoke_token
from tarsy.errors import NotFound


class Command(BaseCommand):
    help = "Revoke an API token."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--owner", required=True, help="the user it belongs to")

    @override
    def handle(self, *_args: Any, **options: Any) -> None:
        owner = User.objects.filter(username=options["owner"]).first()
        if owner is None:
            raise CommandError(f'there is no user "{options["owner"]}"')
        try:
            revoke_token(owner=owner, name=options["name"], actor="manage.py")
        except NotFound as error:
            raise CommandError(str(error)) from error
        self.stdout.write("Revoked.")
