"""`manage.py check_config`: everything wrong with a configuration directory, at once."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand
from typing_extensions import override

from config import Config, environment
from config.access import config_dir
from config.check import CheckReport, check
from config.container_detection import find_container
from config.usage import servers_in_use
from config.words import count
from rules.examples import run_examples

HOW_TO_REACH = "TARSY_OPS_CONFIG names the hosts that it is to reach by ssh."


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
        parser.add_argument(
            "--strict", action="store_true", help="take unknown keys for mistakes, not for warnings"
        )

        parser.add_argument(
            "--examples", action="store_true", help="run the examples that stand beside the rules"
        )

    @override
    def handle(self, *args: object, **options: object) -> None:
        given = options["config_dir"]
        directory = given if isinstance(given, Path) else config_dir()
        report = check(directory, environment(), is_strict=options["strict"] is True)
        for warning in report.warnings:
            self.stdout.write(f"warning: {warning}")
        for mistake in report.mistakes:
            self.stdout.write(str(mistake))
        for note in report.notes:
            self.stdout.write(f"note: {note.message}")
        if report.config and (container := find_container()):
            for name in _look_from_here(report.config):
                self.stdout.write(f"note: {name}: {container.explanation} {HOW_TO_REACH}")
        failed = self._run_examples(report) if options["examples"] is True else 0
        self.stdout.write(_summary(directory, report))
        if report.mistakes or failed:
            sys.exit(1)

    def _run_examples(self, report: CheckReport) -> int:
        """How many examples of rules do not come out as they say."""
        packs = report.config.packs.values() if report.config else ()
        results = [result for pack in packs for result in run_examples(pack)]
        failed = [each for each in results if each.wrong]
        for each in failed:
            self.stdout.write(f"{each.rule}, example {each.number}: {each.wrong}")
        self.stdout.write(f"{len(results) - len(failed)} of {len(results)} examples are right")
        return len(failed)


def _look_from_here(config: Config) -> list[str]:
    """The servers in use that look at the machine this runs on."""
    servers = config.mcp_servers
    used = servers_in_use(config)
    return [name for name in used if servers[name].transport.type == "in_process"]


def _summary(directory: Path, report: CheckReport) -> str:
    if report.config is None:
        return f"{directory}: {count(len(report.mistakes), 'mistake')}"
    if report.needs:
        verb = "is" if len(report.needs) == 1 else "are"
        return (
            f"{directory}: {count(len(report.needs), 'thing')} {verb} missing in the environment; "
            "all else is right, so it loads, but whoever needs them fails"
        )
    config = report.config
    types = ", ".join(config.alert_types())
    return (
        f"{directory}: OK ({count(len(config.chains), 'chain')} for {types}; "
        f"{count(len(config.agents), 'agent')}, {count(len(config.mcp_servers), 'MCP server')}, "
        f"{count(len(config.skills), 'skill')}; "
        f"default provider {config.defaults.llm_provider})"
    )
