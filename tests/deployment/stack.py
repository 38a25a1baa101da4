"""The deployment as an operator would have it, with a model and a tool server of this test."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import httpx

from agents.rehearsal.loading import parse_script
from tests.deployment.compose_file import read_env_file
from tests.deployment.containers import Container, wait_for_port
from tests.deployment.engine import NGINX, Engine, names_of
from tests.deployment.fronts import make_certificate, write_end_of_tls
from tests.processes import ROOT, find_free_port, wait_for
from tests.rehearsal_server import RunningRehearsal, start_rehearsal

HOST = "tarsy.example.test"
PASSWORD = "a long password for walks"
ADMIN = "ops"
MAILBOX = "ada@example.com"
"""The account of whom the identity proxy names."""

TOOL_SERVER = ROOT / "tests" / "e2e" / "writing_server.py"
CONFIG = """
mcp_servers:
  jobs:
    transport: {{type: stdio, command: {python}, args: [-u, {server}, {ledger}]}}
    tools: {{jobs_list: resolve, job_restart: {{default: write, identifies: [name]}}}}
agents:
  Alpha: {{description: Looks, mcp_servers: [jobs]}}
agent_chains:
  walk: {{alert_types: [walk], stages: [{{name: look, agents: [{{name: Alpha}}]}}]}}
defaults:
  alert_type: walk
  llm_provider: scripted
  control_level: controlled
  max_iterations: 8
queue: {{poll_interval: 500ms, poll_interval_jitter: 100ms, approval_timeout: 3m}}
system:
  limits: {{logins: 3}}
"""
PROVIDERS = """
llm_providers:
  scripted: {{type: openai, model: rehearsal, base_url: "{url}", api_key_optional: true}}
"""
SCRIPT = """
rules:
  - when: {agent: ^ExecSummaryAgent}
    reply: {text: The import hung.}
  - when: {turn: 0}
    reply: {tool_calls: [{name: jobs__jobs_list}]}
  - when: {turn: 1}
    reply:
      text: The import hangs, so I restart it.
      tool_calls: [{name: jobs__job_restart, arguments: {name: import}}]
  - when: {turn: 2}
    reply: {tool_calls: [{name: jobs__jobs_list}]}
  - reply:
      text: |
        ## Conclusion
        The import was looked at. Confidence: high

        ## Evidence
        1. The list says so. [T{{ results[0].number }}]
"""


class Stack:
    """Everything of docker-compose.yml, up; what stands in front is put there by each walk."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port, self.tls_port, self.login_port = (find_free_port() for _ in range(3))
        self.ledger = home / "restarts"
        self._config = home / "config"
        self._config.mkdir()
        self._model: RunningRehearsal = start_rehearsal(parse_script(SCRIPT), pace=0)
        self._write_config()
        self.engine = Engine(home, {"./deploy/config": self._config})
        self._settings: dict[str, str] = {}
        self._end_of_tls: Container | None = None
        self._tls_home = home / "tls"
        self._tls_home.mkdir()

    def up(self) -> None:
        self.engine.read(self._variables({}))
        names = names_of(self.engine.services.values())
        self.engine.up(*names)
        self.engine.wait(*(name for name in names if name != "beat"))
        # Its check looks for a file that another Python calls otherwise: see engine.py.
        assert self.engine.containers["beat"].is_running
        self._make_accounts()

    def down(self) -> None:
        if self._end_of_tls is not None:
            self._end_of_tls.stop()
        self.engine.down()
        self._model.stop()

    def configure(self, **settings: str) -> None:
        """`.env` is as it was with these in it, and what people reach is made anew."""
        if settings == self._settings:
            return
        self._settings = settings
        self.engine.read(self._variables(settings))
        self.engine.recreate("web", "ws")
        wait_for(self._is_answered, what="nginx handing on to the web process made anew")

    def _is_answered(self) -> bool:
        # It asks for the address of what was made anew once a second.
        answer = httpx.get(f"http://127.0.0.1:{self.port}/healthz", timeout=20)
        return answer.status_code == 200

    def put_tls_in_front(self) -> str:
        """Returns the address of the machine that ends it, as nginx sees that machine."""
        address = "127.0.0.77"
        if self._end_of_tls is None:
            make_certificate(self._tls_home, HOST)
            upstream = f"http://127.0.0.1:{self.port}"
            write_end_of_tls(self._tls_home, address=address, port=self.tls_port, upstream=upstream)
            argv = [NGINX, "-p", str(self._tls_home), "-c", f"{self._tls_home}/nginx.conf"]
            environment = {"PATH": "/usr/sbin:/usr/bin:/bin"}
            log = self.home / "tls.log"
            self._end_of_tls = Container("tls", argv, environment, log)
            self._end_of_tls.start()
            wait_for_port("127.0.0.1", self.tls_port)
        return address

    @property
    def certificate(self) -> Path:
        return self._tls_home / "tls.pem"

    def renew_certificate(self, *, ends_in: timedelta = timedelta(days=2)) -> None:
        """The end of TLS is started again with another one, which may have ended already."""
        assert self._end_of_tls is not None
        make_certificate(self._tls_home, HOST, ends_in=ends_in)
        self._end_of_tls.stop()
        self._end_of_tls.start()
        wait_for_port("127.0.0.1", self.tls_port)

    def put_identity_proxy_in_front(self) -> None:
        self.engine.up("oauth2-proxy")
        self.engine.wait("oauth2-proxy")

    def run_in_web(self, *argv: str, input: str = "") -> str:
        """`docker compose exec web ...`"""
        web = self.engine.containers["web"]
        done = subprocess.run(
            argv, cwd=ROOT, env=dict(web.environment), input=input, text=True,
            capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def _variables(self, settings: dict[str, str]) -> dict[str, str]:
        example = (ROOT / ".env.example").read_text(encoding="utf-8")
        return {
            **read_env_file(example),
            "POSTGRES_PASSWORD": "example-password",
            "SECRET_KEY": "an example key that signs the logins of these walks",
            "PORT": str(self.port),
            "OAUTH2_PROXY_PORT": str(self.login_port),
            "CONFIG_DIR": "/etc/tarsy",
            "LOG_FORMAT": "console",
            **settings,
        }

    def _write_config(self) -> None:
        text = CONFIG.format(python=sys.executable, server=TOOL_SERVER, ledger=self.ledger)
        (self._config / "tarsy.yaml").write_text(text, encoding="utf-8")
        providers = PROVIDERS.format(url=self._model.url)
        (self._config / "llm-providers.yaml").write_text(providers, encoding="utf-8")

    def _make_accounts(self) -> None:
        program = (
            "from django.contrib.auth.models import User\n"
            f"User.objects.create_superuser({ADMIN!r}, password={PASSWORD!r})\n"
            f"User.objects.create_superuser({MAILBOX!r})\n"
        )
        self.run_in_web("python", "manage.py", "shell", input=program)
