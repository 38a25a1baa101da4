"""`manage.py check_config`: everything wrong with a configuration directory, at once."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand
from typing_extensions import override

from config import environment
from config.access import config_dir
from config.check import CheckReport, check


class Command(BaseCommand):
    help = "Check a configuration directory. Exits 1 if anything in it is wrong. Needs no database."
    requires_system_checks = ()

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--config-dir",
            type=Path,
            help="the directory to check; without it, the one that the product would use",
        )

    @override
    def handle(self, *args: object, **options: object) -> None:
        given = options["config_dir"]
        directory = given if isinstance(given, Path) else config_dir()
        report = check(directory, environment())
        for warning in report.warnings:
            self.stdout.write(f"warning: {warning}")
        for mistake in report.mistakes:
            self.stdout.write(str(mistake))
        for note in report.notes:
            self.stdout.write(f"note: {note.message}")
        self.stdout.write(_summary(directory, report))
        if report.mistakes:
            sys.exit(1)


def _summary(directory: Path, report: CheckReport) -> str:
    if report.config is None:
        count = len(report.mistakes)
        return f"{directory}: {count} {'mistake' if count == 1 else 'mistakes'}"
    config = report.config
    types = ", ".join(config.alert_types())
    return (
        f"{directory}: OK ({len(config.chains)} chains for {types}; {len(config.agents)} agents, "
        f"{len(config.mcp_servers)} MCP servers, {len(config.skills)} skills; "
        f"default provider {config.defaults.llm_provider})"
    )
