"""The settings that take more than one look into the environment, each as a function of it."""

import os
import re
import secrets
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from psycopg import IsolationLevel

from tarsy.env import Env

# What a vanished server or a frozen process may cost the others: a minute, not for ever. A paused
# process that sits in a transaction holds the locks every dispatcher waits for.
_DATABASE_LIMITS = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",
    "options": "-c idle_in_transaction_session_timeout=30s",
}
# Several statements are sent as one text, and each has to see what was committed while the one
# before it waited for its locks. Neither a server's default nor an address may change that.
_DATABASE_PROMISES = {
    "isolation_level": IsolationLevel.READ_COMMITTED.value,
    "server_side_binding": False,
}


def find_dashboard_url(env: Env, var_dir: Path) -> str:
    """The one given, else that of the TARSy that runs from this var directory."""
    noted = var_dir / "url"
    running = noted.read_text(encoding="utf-8").strip() if noted.is_file() else ""
    return env.text("BASE_URL", running or f"http://localhost:{env.integer('PORT', 8000)}")


def read_host_and_origin(env: Env, url: str) -> tuple[str, str]:
    """The host and the origin of the dashboard, both as a browser writes them."""
    parts = urlsplit(url)
    try:
        name, port = (parts.hostname or "").encode("idna").decode(), parts.port
    except ValueError:
        name, port = "", None
    is_host = re.fullmatch(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|[0-9a-f:.]+", name) is not None
    if parts.scheme not in ("http", "https") or not is_host or "@" in parts.netloc or port == 0:
        env.wrong("BASE_URL", "must be an address such as https://tarsy.example.com")
    host = f"[{name}]" if ":" in name else name
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return host, f"{parts.scheme}://{host}" + (f":{port}" if port and port != usual else "")


def read_or_make_secret_key(env: Env, var_dir: Path) -> str:
    """The configured key, else one that is made once and kept in the var directory."""
    key = env.secret("SECRET_KEY")
    if key:
        return key
    path = var_dir / "secret_key"
    var_dir.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        # Whole from its first moment: several processes may start at once, and the first one wins.
        with tempfile.NamedTemporaryFile("w", dir=var_dir) as file, suppress(FileExistsError):
            file.write(secrets.token_urlsafe(50))
            file.flush()
            os.link(file.name, path)
    return path.read_text(encoding="utf-8").strip()


def read_proxies(name: str, env: Env) -> list[str]:
    """Addresses, networks and names of hosts; `tarsy.proxies` says what each list is for."""
    proxies = list(env.items(name))
    if not all(_is_network(proxy) or _HOST_NAME.fullmatch(proxy) for proxy in proxies):
        env.wrong(name, "must be addresses, networks such as 10.0.0.0/8, or names of hosts")
    return proxies


# The last part has a letter, or a mistyped address would be a name that nobody has.
_HOST_NAME = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z0-9_-]*[a-z][a-z0-9_-]*", re.IGNORECASE)


def _is_network(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def refuse_overlap(env: Env, trusted: Sequence[str], forwarding: Sequence[str]) -> None:
    """What only forwards hands on what browsers write, so nothing may be on both lists."""
    believed, heard = (
        [ip_network(proxy, strict=False) for proxy in proxies if _is_network(proxy)]
        for proxies in (trusted, forwarding)
    )
    is_inside = any(one.overlaps(other) for one in believed for other in heard)
    names = {name.lower() for name in trusted} & {name.lower() for name in forwarding}
    if is_inside or names:
        env.wrong(
            "TARSY_TRUSTED_PROXIES",
            "must not cover what TARSY_FORWARDING_PROXIES lists, for that vouches for nobody; name "
            "only the proxy that asks people who they are, by its address or name of a host",
        )


def read_database(env: Env, *, is_asgi: bool) -> dict[str, Any]:
    """`postgres://user:password@host:port/name`; a socket directory goes in `?host=`."""
    url = env.secret("DATABASE_URL", "postgres://tarsy@127.0.0.1:5432/tarsy")
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql"):
        env.wrong("DATABASE_URL", "must begin with postgres://")
    port = None
    try:
        port = parts.port
        is_readable = not parts.fragment
    except ValueError:
        is_readable = False
    if not is_readable:
        env.wrong(
            "DATABASE_URL",
            "must have a number from 1 to 65535 as its port; a password with / ? # @ : or % in it "
            "has to stand in POSTGRES_PASSWORD, or percent-encoded",
        )
    query = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    database: dict[str, Any] = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "tarsy",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or "") or env.password("POSTGRES_PASSWORD"),
        "HOST": unquote(query.pop("host", parts.hostname or "")),
        "PORT": str(port or query.pop("port", "")),
        "OPTIONS": {
            **_DATABASE_LIMITS,
            **{key: unquote(value) for key, value in query.items()},
            **_DATABASE_PROMISES,
        },
    }
    if is_asgi:
        # Persistent connections leak under ASGI, where a request may run on any thread.
        database["OPTIONS"]["pool"] = {"min_size": 1, "max_size": 16, "timeout": 10}
    else:
        database["CONN_MAX_AGE"] = 60
    # Otherwise every connection that a restart of the server has cut fails one request.
    database["CONN_HEALTH_CHECKS"] = True
    return database
