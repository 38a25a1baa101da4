"""The shop's database or its cache: servers of the kinds that the product brings, of its own.

python -m tarsy.shop.store --home DIR orders|cache
"""

import signal
import threading

import psycopg
from redis import Redis

from tarsy.embedded.protocol import ServerName
from tarsy.embedded.servers import Servers, ensure
from tarsy.shop.layout import Layout, read_object, write_whole
from tarsy.shop.lifeline import begin, say

DATABASE = "shop"
CACHE_LIMIT = "8mb"


def main() -> None:
    options = begin("Runs a store of the shop.", None, "name")
    layout: Layout = options.layout
    is_cache = options.name == "cache"
    layout.store_url(options.name).unlink(missing_ok=True)
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    wanted: tuple[ServerName, ...] = ("valkey",) if is_cache else ("postgres",)
    with ensure(layout.stores / options.name, wanted=wanted, durable=False) as servers:
        url = _prepare_cache(layout, servers) if is_cache else _prepare_database(servers)
        write_whole(layout.store_url(options.name), url, mode=0o600)
        say(f"INFO {wanted[0]} answers at {url.rpartition('@')[2]}")
        stopped.wait()
    say("INFO stopped")


def _prepare_cache(layout: Layout, servers: Servers) -> str:
    settings = read_object(layout.cache_settings)
    with Redis.from_url(servers.redis_url) as cache:
        cache.config_set("maxmemory", CACHE_LIMIT)
        cache.config_set("maxmemory-policy", str(settings.get("policy", "noeviction")))
    return servers.redis_url


def _prepare_database(servers: Servers) -> str:
    with psycopg.connect(servers.database_url, autocommit=True) as connection:
        named = "SELECT 1 FROM pg_database WHERE datname = %s"
        if not connection.execute(named, [DATABASE]).fetchone():
            connection.execute(f"CREATE DATABASE {DATABASE}")
    return f"{servers.database_url.rpartition('/')[0]}/{DATABASE}"


if __name__ == "__main__":
    main()
