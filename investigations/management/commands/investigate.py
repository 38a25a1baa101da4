"""`manage.py investigate`: send an alert from the terminal and follow its investigation there."""

import json
import sys
import time
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from typing_extensions import override

from investigations.api.parsing import parse_json
from investigations.models import AlertSession
from investigations.rendering.moments import localize
from investigations.rendering.terminal import Terminal
from investigations.selectors.claims import judge_report
from investigations.selectors.reports import list_our_lines
from investigations.selectors.sessions import get_session
from investigations.selectors.system.workers import live_workers
from investigations.selectors.timeline import CATCHUP_LIMIT, list_stream
from investigations.services.intake import is_envelope, read_alert, submit_alert
from tarsy.embedded.commands import are_ours, explain_nobody
from tarsy.errors import ConfigError, InvalidInput, QueueFull
from tarsy.one_start import is_started

POLL_SECONDS = 0.3
NOBODY_FOR = 5.0
"""So long a directory may have nobody in it who works: whoever starts there needs some seconds."""
NO_WORKER_AFTER = 2.0
GIVE_UP_AFTER = 120.0
"""Without any worker for so long, whoever waits is told how to come back."""

EXIT_COMPLETED, EXIT_FAILED, EXIT_BAD_INPUT = 0, 1, 2


class Command(BaseCommand):
    help = "Investigate an alert and follow it here. Exits 0 completed, 1 failed, 2 bad input."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--alert-type", default="", help="default: the configured one")
        parser.add_argument(
            "--data",
            required=True,
            metavar="FILE",
            help="the alert as text or JSON, or "
            "as the API takes it: {alert_type, data, ...}; - is stdin",
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    @override
    def handle(self, *args: object, **options: Any) -> None:
        self._refuse_where_nobody_works()
        try:
            session = self._submit(options["alert_type"], options["data"])
        except (InvalidInput, QueueFull, ConfigError, OSError, UnicodeDecodeError) as error:
            self.stderr.write(f"Bad input: {error}")
            sys.exit(EXIT_BAD_INPUT)
        tell = self.stderr.write if options["json"] else self.stdout.write
        tell(f"Session {session.pk}: {settings.DASHBOARD_URL}/sessions/{session.pk}/")
        finished = self._follow(session.pk, tell)
        self._report(finished, as_json=options["json"])
        is_completed = finished.status == AlertSession.Status.COMPLETED
        sys.exit(EXIT_COMPLETED if is_completed else EXIT_FAILED)

    def _refuse_where_nobody_works(self) -> None:
        """Servers may run in a directory for somebody else than TARSy: then nobody would answer."""
        if not are_ours(settings.VAR_DIR):
            return
        until = time.monotonic() + NOBODY_FOR
        while not (is_started(settings.VAR_DIR) or live_workers()):
            if time.monotonic() > until:
                self.stderr.write(explain_nobody(settings.VAR_DIR))
                sys.exit(EXIT_FAILED)
            time.sleep(POLL_SECONDS)

    def _submit(self, alert_type: str, path: str) -> AlertSession:
        raw = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        data = _as_data(raw)
        body: dict[str, Any] = dict(data) if is_envelope(data) else {"data": data}
        if alert_type:
            body["alert_type"] = alert_type
        return submit_alert(read_alert(body), author="cli")

    def _follow(self, session_id: uuid.UUID, tell: Any) -> AlertSession:
        """Print what happens until the session ends."""
        seen, heard, warned = 0, time.monotonic(), False
        terminal = Terminal()
        while True:
            for payload in list_stream(session_id, after=seen, limit=CATCHUP_LIMIT):
                seen = payload["db_event_id"]
                heard = time.monotonic()
                if line := terminal.describe(payload):
                    tell(line)
            session = get_session(session_id)
            if session.is_terminal and seen >= session.last_seq:
                return session
            silent = time.monotonic() - heard
            if silent > NO_WORKER_AFTER and not live_workers():
                if not warned:
                    warned = True
                    tell(
                        "Waiting: no worker answers. Start one with `make run` elsewhere. If one "
                        "runs already, it has another database, or another TARSY_VAR_DIR than this "
                        f"command, which has {settings.VAR_DIR}: set the same for both."
                    )
                if silent > GIVE_UP_AFTER:
                    self.stderr.write(
                        "No worker answered, so this stops waiting. The alert is kept, and is "
                        "investigated when a worker starts."
                    )
                    sys.exit(EXIT_FAILED)
            time.sleep(POLL_SECONDS)

    def _report(self, session: AlertSession, *, as_json: bool) -> None:
        counts = judge_report(session.pk, session.final_analysis).counts
        if as_json:
            report = {
                "session_id": str(session.pk),
                "status": session.status,
                "executive_summary": session.executive_summary,
                "final_analysis": session.final_analysis,
                "claims": {**asdict(counts), "words": counts.words},
                "error_message": session.error_message or None,
            }
            self.stdout.write(json.dumps(report, indent=2))
            return
        self.stdout.write("")
        if session.final_analysis:
            self.stdout.write(localize(session.final_analysis))
            self.stdout.write(f"\nClaims: {counts.words}.")
        else:
            for line in list_our_lines(session.pk):
                self.stdout.write(line)
        if session.error_message:
            self.stderr.write(session.error_message)
        self.stdout.write(f"\n{session.get_status_display()}.")


def _as_data(raw: str) -> object:
    """JSON objects and lists are sent as such, everything else as the text it is."""
    if raw.lstrip()[:1] not in ("{", "["):
        return raw
    try:
        return parse_json(raw.encode())
    except InvalidInput:
        return raw
