"""`make demo` and `make run`: the whole product from one command, on this machine only.

Prepares the database, makes an administrator, then runs web, workers, beat and, when no model
provider is set, the rehearsal model, under one supervisor.
"""

import ctypes
import errno
import json
import os
import secrets
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from config import Config, config_dir, get_config
from config.check import check
from config.providers import REHEARSAL, choose_provider
from config.usage import providers_in_use
from config.words import count
from investigations.selectors.logins import has_admin_come_since
from investigations.selectors.system.workers import live_workers
from investigations.services.login_links import make_login_link_token
from tarsy.demo import RULES_ONLY, WITH_MODEL, Demo, cancel_what_is_left, read_fault
from tarsy.demo_word import leave_word, take_word_away
from tarsy.env import Env, environment
from tarsy.errors import ConfigError, Mistake
from tarsy.one_start import hold_start
from tarsy.processes import ProcessSpec, Supervisor
from tarsy.terminal_news import News, tell_news

ADMIN = "admin"
HOST = "127.0.0.1"
HOST_V6 = "::1"
"""What `localhost` means as well: browsers try it first."""
WORKERS = 2
READY_WITHIN = 60.0
"""So long a start may take without a word about it."""
WORKER_WITHIN = 30.0
OPENED_WITHIN = 60
PR_SET_PDEATHSIG = 1
_WORKER_OPTIONS = ("-P", "threads", "-c", "64", "--without-gossip", "--without-mingle",
                   "-l", "INFO")  # fmt: skip
BEAT = ("-m", "celery", "--quiet", "-A", "tarsy.beat", "beat", "--pidfile=")


@dataclass(frozen=True)
class Plan:
    """What is to be started."""

    port: int
    provider: str
    """The one that answers where a chain names none."""
    rehearsal_url: str
    """Where the scripted model answers, or would if it were started."""
    is_rehearsal: bool
    """Whether `provider` is that model."""
    rehearsal_port: int | None
    """On which it is to be started; None where nobody would ask it, or it runs already."""
    demo_type: str
    """The type of the demo's alerts, by which their chain is found."""
    fault: str | None
    """What goes wrong in the demo's shop; None without a demo."""
    wait: int
    """Seconds that it waits for somebody to open its link."""

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"


def start(*, with_demo: bool) -> int:
    """Run until Ctrl-C. Returns the exit code."""
    _end_with_make()
    with _only_one_here():
        plan = _make_plan(with_demo=with_demo)
        _set_environment(plan)
        (settings.VAR_DIR / "url").write_text(plan.url, encoding="utf-8")
        _announce_demo(plan, waits=True)
        return _run(plan)


def _run(plan: Plan) -> int:
    config = get_config()  # Every mistake in it is shown now, before anything starts.
    Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)
    print("Database and Redis answer. Bringing the tables up to date ...", flush=True)
    call_command("migrate", verbosity=0, interactive=False)
    password = _make_admin()
    supervisor = Supervisor(_list_processes(plan))
    say = supervisor.say
    chains = count(len(config.chains), "chain")
    say(f"TARSy {settings.VERSION}, {chains}, model provider: {plan.provider}")
    say("Starting web server, workers and what they need: some 10 to 30 seconds ...")
    # Before a worker goes on with it.
    if plan.fault is not None and (left := cancel_what_is_left()):
        say(f"Cancelled, as its shop is gone: {count(left, 'investigation')} of an earlier demo.")
    for need in config.needs:
        say(f"Missing: {need}. Until then, whatever needs it fails.")
    with _demo_of(plan, say) as demo:
        code: int = supervisor.run(on_started=lambda: _greet(plan, demo, password, say))
    say("Stopped. What was running goes on at the next start.")
    return code


@contextmanager
def _demo_of(plan: Plan, say: Callable[[str], None]) -> Iterator[Demo | None]:
    if plan.fault is None:
        yield None
        return
    demo = Demo(settings.VAR_DIR.absolute(), plan.fault, say)
    try:
        yield demo
    finally:
        demo.close()


def _announce_demo(plan: Plan, *, waits: bool) -> None:
    if plan.fault is None:
        take_word_away(settings.VAR_DIR)
    else:
        leave_word(settings.VAR_DIR, plan.fault, waits=waits)


def _end_with_make() -> None:
    """`make` hands signals on, but killed outright it cannot; nobody would see us any more."""
    if "MAKELEVEL" in os.environ and sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def _only_one_here() -> Iterator[None]:
    """Hold the var directory for this start; others read there where the dashboard is."""
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_start(settings.VAR_DIR))
        except BlockingIOError:
            reason = (
                f"names {settings.VAR_DIR}, from which TARSy runs already, at "
                f"{settings.DASHBOARD_URL}; stop that one or name another directory"
            )
            raise ConfigError([Mistake("environment", 0, f"TARSY_VAR_DIR {reason}")]) from None
        yield


def _make_plan(*, with_demo: bool) -> Plan:
    fault = read_fault() if with_demo else None
    env = Env(os.environ)
    port = env.integer("PORT", 8000, minimum=1, maximum=65535)
    if trouble := _trouble_with(port):
        env.wrong("PORT", f"{port} {trouble}")
    given = env.text("TARSY_REHEARSAL_URL")
    wait = env.integer("DEMO_WAIT", OPENED_WITHIN, minimum=0, maximum=3600)
    env.raise_if_wrong()
    rehearsal_port = _find_free_port()
    rehearsal_url = given or f"http://{HOST}:{rehearsal_port}/v1"
    config = _read_config_with(rehearsal_url)
    provider = config.defaults.llm_provider
    is_asked = any(each.base_url == rehearsal_url for each in providers_in_use(config))
    is_rehearsal = config.llm_providers[provider].base_url == rehearsal_url
    return Plan(
        port=port,
        provider=provider,
        rehearsal_url=rehearsal_url,
        is_rehearsal=is_rehearsal,
        rehearsal_port=rehearsal_port if is_asked and not given else None,
        demo_type=_choose_demo_type(config, is_rehearsal=is_rehearsal),
        fault=fault,
        wait=wait,
    )


def _choose_demo_type(config: Config, *, is_rehearsal: bool) -> str:
    """That of rules alone, or with a real model; without such a chain, the type for all alerts."""
    wanted = RULES_ONLY if is_rehearsal else WITH_MODEL
    return wanted if wanted in config.alert_types() else config.defaults.alert_type


def _read_config_with(rehearsal_url: str) -> Config:
    """The configuration that would be in force with the scripted model at this address."""
    report = check(config_dir(), {**environment(), "TARSY_REHEARSAL_URL": rehearsal_url})
    if report.config is None:
        raise ConfigError(report.mistakes)
    return report.config


def _set_environment(plan: Plan) -> None:
    """What this process and the ones it starts agree on. Explicit settings of the user's win."""
    os.environ.setdefault("BASE_URL", plan.url)
    # It listens on loopback only, so that `curl` works without a token.
    os.environ.setdefault("TARSY_AUTH", "none")
    os.environ.setdefault("LOG_FORMAT", "console")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    if plan.rehearsal_port:
        os.environ["TARSY_REHEARSAL_URL"] = plan.rehearsal_url


def _make_admin() -> str | None:
    """The new administrator's password, or None when there is one already."""
    users = get_user_model().objects
    if users.filter(is_superuser=True).exists():
        return None
    password = secrets.token_urlsafe(12)
    users.create_superuser(username=ADMIN, password=password)
    return password


def _list_processes(plan: Plan) -> list[ProcessSpec]:
    python = sys.executable
    celery = (python, "-m", "celery", "--quiet", "-A")
    environment = dict(os.environ)
    if os.geteuid() == 0:
        # Celery's advice not to be root is for servers; this one listens on loopback only.
        environment["PYTHONWARNINGS"] = "ignore:You're running the worker with superuser"
    web = (
        python,
        "-m",
        "daphne",
        "-v",
        "0",
        "-b",
        HOST,
        "-p",
        str(plan.port),
        "tarsy.asgi:application",
    )
    plan_file = str(settings.VAR_DIR / "beat-schedule")
    specs = [ProcessSpec("web", web, environment)]
    for number in range(1, WORKERS + 1):
        name = f"worker-{number}"
        worker = (*celery, "tarsy.worker", "worker", *_WORKER_OPTIONS, "-n", f"{name}@%h")
        specs.append(ProcessSpec(name, worker, environment))
    specs.append(ProcessSpec("beat", (python, *BEAT, "-s", plan_file), environment))
    if plan.rehearsal_port:
        model = (python, "-m", "agents.rehearsal", "--port", str(plan.rehearsal_port))
        specs.append(ProcessSpec("model", model, environment))
    return specs


def _greet(plan: Plan, demo: Demo | None, password: str | None, say: Callable[[str], None]) -> None:
    """Wait until it answers, say where to look, and let the demo begin."""
    if demo is not None:
        demo.open()
    _wait_until_ready(plan.url, say)
    say("The web server answers. Waiting for a worker ...")
    _wait_for_worker()
    say("")
    for line in _describe_rehearsal(plan):
        say(line)
    if password:
        say(f"Administrator: {ADMIN}, password: {password}   (shown only now)")
    else:
        say("The administrator's password is as before.")
        say(f"A new one: .venv/bin/python manage.py changepassword {ADMIN}")
    say(f"Dashboard:       {plan.url}/")
    say(f"Administration:  {plan.url}/admin/")
    if demo is not None:
        say(f"Open this and watch. {demo.promise} after you do, or after a minute:")
        say(f"  {_login_link(plan, '/')}")
    elif settings.TARSY_AUTH == "login":
        say("Log in once with:")
        say(f"  {_login_link(plan, '/')}")
    say(f"Logs of its database: {settings.VAR_DIR}/embedded. Ctrl-C stops everything and keeps it.")
    say("")
    greeted = timezone.now()
    news = News(plan.url, lambda: "" if has_admin_come_since(greeted) else _login_link(plan, "/"))
    # Behind the greeting: whoever decides about what waits already has to log in by its link.
    threading.Thread(target=tell_news, args=(news, say), name="news", daemon=True).start()
    if demo is not None:
        _wait_until_opened(plan.wait, greeted)
        _announce_demo(plan, waits=False)
        owner = _find_admin() if settings.TARSY_AUTH == "login" else None
        demo.begin(plan.url, owner, plan.demo_type)


def _describe_rehearsal(plan: Plan) -> Iterator[str]:
    """Whose words are scripted, if any are."""
    if plan.is_rehearsal:
        is_chosen = choose_provider(environment()) != REHEARSAL
        why = "The configuration names it" if is_chosen else "No model is configured"
        yield (
            f"{why}: the model is REHEARSAL. Its answers are scripted, the tools and their results "
            "are real. Set OPENAI_API_KEY, GEMINI_API_KEY, ANTHROPIC_API_KEY, XAI_API_KEY or "
            "OPENAI_BASE_URL and start again for a real one."
        )
    elif plan.rehearsal_port:
        yield "Chains that name the REHEARSAL model get scripted answers about real tool results."


def _login_link(plan: Plan, page: str) -> str:
    """The page, by way of a link that logs the administrator in."""
    admin = _find_admin()
    if admin is None:
        return f"{plan.url}{page}"
    after = "" if page == "/" else f"?next={page}"
    return f"{plan.url}/login/link/{make_login_link_token(admin)}/{after}"


def _wait_until_opened(seconds: int, since: datetime) -> None:
    """Until somebody has used the link, or so long: nobody misses the beginning."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and not has_admin_come_since(since):
        time.sleep(0.3)


def _find_admin() -> User | None:
    return get_user_model().objects.filter(is_superuser=True).order_by("pk").first()


def _wait_for_worker() -> None:
    """So that the first investigation does not seem to hang; without one it merely waits."""
    until = time.monotonic() + WORKER_WITHIN
    while not live_workers() and time.monotonic() < until:
        time.sleep(0.2)


def _wait_until_ready(url: str, say: Callable[[str], None]) -> None:
    """However slow the machine is: a web server that has died is the supervisor's to tell."""
    told = time.monotonic()
    while trouble := _find_trouble_of_web(url):
        if time.monotonic() - told > READY_WITHIN:
            told = time.monotonic()
            say(f"The web server is not ready yet: {trouble}")
        time.sleep(0.2)


def _find_trouble_of_web(url: str) -> str:
    """Why it is not ready; empty where it is."""
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=3) as answer:
            json.load(answer)
    except urllib.error.URLError as error:
        return str(error.reason)
    except (OSError, ValueError) as error:
        return str(error)
    return ""


def _trouble_with(port: int) -> str:
    """Why nothing can listen there, with what to do; empty where it can."""
    match _try_to_listen(socket.AF_INET, HOST, port):
        case errno.EACCES | errno.EPERM:
            return "may be used by root alone; set PORT to one from 1024 on"
        case errno.EADDRNOTAVAIL:
            return f"cannot be listened on, as this machine has no address {HOST}; give it one"
        case None:
            pass
        case _:
            return "is taken; set PORT to a free one"
    # A machine without IPv6 is none the worse; a stranger there would be taken for this one.
    if _try_to_listen(socket.AF_INET6, HOST_V6, port) == errno.EADDRINUSE:
        return f"is taken at [{HOST_V6}], where a browser looks first; set PORT to a free one"
    return ""


def _try_to_listen(family: socket.AddressFamily, address: str, port: int) -> int | None:
    """The number of the error, if there is one."""
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except OSError as error:
        return error.errno
    return None


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
