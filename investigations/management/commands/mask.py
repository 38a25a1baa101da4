"""`manage.py mask`: standard input without its secrets, to try patterns before trusting them."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from functools import cache

from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from investigations.maskers import build_alert_masker, build_tool_masker, mask_alert_data

Mask = Callable[[str], str]


class Command(BaseCommand):
    help = (
        "Mask standard input as the result of a tool, and print it. Exits 1 where a text cannot be "
        "masked and would be withheld from everybody. Needs no database."
    )
    requires_system_checks = ()

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        source = parser.add_mutually_exclusive_group()
        source.add_argument("--server", default="", help="with the patterns of this MCP server")
        source.add_argument("--alert", action="store_true", help="as an alert")
        parser.add_argument(
            "--jsonl",
            action="store_true",
            help='read objects with "id", "input" and "source" (tool_result or alert), one a line, '
            'and print {"id", "output"} for each',
        )

    @override
    def handle(self, *args: object, **options: object) -> None:
        try:
            mask_tool = _choose(str(options["server"]))
        except LookupError as error:
            raise CommandError(str(error.args[0])) from error
        if options["jsonl"]:
            for answer in _answers(mask_tool, is_alert=bool(options["alert"])):
                self.stdout.write(json.dumps(answer, ensure_ascii=False))
            return
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
        if options["alert"]:
            masked = mask_alert_data(text)
        else:
            try:
                masked = mask_tool(text)
            except Exception as error:
                raise CommandError(f"This text would be withheld: {error}") from error
        self.stdout.write(masked, ending="")


def _choose(server_id: str) -> Mask:
    masker = build_tool_masker(server_id)
    return lambda text: masker.mask(text).text


def _answers(mask_tool: Mask, *, is_alert: bool) -> Iterator[dict[str, object]]:
    alert_masker = cache(build_alert_masker)
    for number, line in enumerate(sys.stdin, 1):
        if not line.strip():
            continue
        try:
            case = json.loads(line)
            text = case["input"]
        except (ValueError, TypeError, KeyError) as error:
            raise CommandError(f'Line {number} is no JSON object with an "input".') from error
        if is_alert or case.get("source") == "alert":
            masker = alert_masker()
            output = text if masker is None else masker.mask_alert(text).text
        else:
            output = _mask_or_withhold(mask_tool, text)
        yield {"id": case.get("id"), "output": output}


def _mask_or_withhold(mask: Mask, text: str) -> str:
    try:
        return mask(text)
    except Exception as error:
        return f"[withheld: {error}]"
