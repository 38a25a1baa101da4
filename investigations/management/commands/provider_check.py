"""`manage.py provider_check`: ask a model for all that an investigation needs of it."""

import json
import sys
from typing import Any, NoReturn, get_args

from django.core.management.base import BaseCommand, CommandParser
from typing_extensions import override

from agents.llm.client import is_direct
from agents.provider_check.report import PROBE_SECONDS, ProbeName, ProviderReport
from config import environment, get_config
from config.access import config_dir
from config.provider_saving import NotSaved, save_settings
from config.schema.providers import LLMProviderConfig
from config.words import suggest
from investigations.engine.provider_checks import check_provider
from investigations.rendering.provider_report import describe_end, describe_finding
from tarsy.errors import ConfigError

EXIT_OK, EXIT_FAILED, EXIT_BAD_INPUT = 0, 1, 2
PROBES = get_args(ProbeName)


class Command(BaseCommand):
    help = (
        "Ask a configured model for text, a stream, calls of tools and all else that an "
        "investigation needs, and say what works, what to set and what it cost. It takes about "
        "15 requests. Needs no database. Exits 0 when an investigation could run on it, 1 when "
        "not, or when --write could not write, 2 on bad input."
    )
    requires_system_checks = ()

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("provider", help="its name in llm_providers, or a built-in one")
        parser.add_argument(
            "--only",
            action="append",
            choices=PROBES,
            metavar="PROBE",
            default=[],
            help=f"only this, and what it rests on; may be repeated: {', '.join(PROBES)}",
        )
        parser.add_argument(
            "--write",
            action="store_true",
            help="put what was found to be set into llm-providers.yaml, and keep the old file",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--seconds",
            type=float,
            default=PROBE_SECONDS,
            help=f"how long a question may take (default: {PROBE_SECONDS:g})",
        )

    @override
    def handle(self, *args: object, **options: Any) -> None:
        if not 1 <= options["seconds"] <= 3600:
            self._refuse("--seconds takes 1 to 3600")
        provider = self._find(options["provider"])
        shown = 0

        def tell(report: ProviderReport) -> None:
            nonlocal shown
            for finding in report.findings[shown:]:
                self.stdout.write(describe_finding(finding))
            shown = len(report.findings)
            self.stdout.flush()

        is_quiet = options["json"]
        if not is_quiet:
            self.stdout.write(f"{_headline(provider)}\n")
        report = check_provider(
            provider,
            (lambda _: None) if is_quiet else tell,
            only=options["only"],
            probe_seconds=options["seconds"],
        )
        if is_quiet:
            self.stdout.write(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
        else:
            self.stdout.write("")
            for line in describe_end(report, is_whole=not options["only"]):
                self.stdout.write(line)
        is_saved = not options["write"] or self._save(report)
        sys.exit(EXIT_OK if is_saved and _is_good(report, options) else EXIT_FAILED)

    def _find(self, name: str) -> LLMProviderConfig:
        try:
            known = get_config().llm_providers
        except ConfigError as error:
            self._refuse(f"The configuration is wrong:\n{error}")
        if name not in known:
            place = f"in {config_dir()} (CONFIG_DIR chooses another directory)"
            self._refuse(f"there is no model provider {name!r} {place}{suggest(name, known)}")
        return known[name]

    def _save(self, report: ProviderReport) -> bool:
        """Whether all that is to be set is in the file. What it says goes beside the report."""
        if not report.settings:
            self.stderr.write("Nothing was written: there is nothing to be set.")
            return True
        try:
            saved = save_settings(
                config_dir(), environment(), report.provider_name, report.settings
            )
        except NotSaved as error:
            self.stderr.write(f"Nothing was written: {error}. Put this into llm-providers.yaml:\n")
            self.stderr.write(error.block)
            return False
        self.stderr.write(
            f"Written into {saved.path}; {saved.backup.name} is the file as it was. Web and "
            "workers read it when they start."
        )
        return True

    def _refuse(self, reason: str) -> NoReturn:
        self.stderr.write(reason)
        sys.exit(EXIT_BAD_INPUT)


def _headline(provider: LLMProviderConfig) -> str:
    way = "directly" if is_direct(provider.type, provider.base_url) else "through litellm"
    return f"{provider.name}: {provider.model}, asked {way}"


def _is_good(report: ProviderReport, options: dict[str, Any]) -> bool:
    """Whether an investigation could run, with what was written; or whether all that was asked for
    by name is good."""
    if options["only"]:
        return report.is_good(*options["only"])
    return report.can_investigate or (options["write"] and report.needs_text_calls)
