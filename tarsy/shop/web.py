"""The shop's web service: a catalogue and orders, over TLS.

python -m tarsy.shop.web --home DIR
"""

import errno
import json
import signal
import ssl
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout
from redis import Redis, RedisError
from typing_extensions import override

from tarsy.shop.checkouts import Checkout, Pool
from tarsy.shop.layout import HOST, SPOOL_LIMIT, Layout, read_object
from tarsy.shop.lifeline import begin, say, wait_for_file

POOL_SIZE = 8
_POOL_SECONDS = 1.0
_SILENT_SECONDS = 10.0
_CART_SECONDS = 3600
_HEALTH_BYTES = 16_384
_LARGEST_BODY = 256 * 1024
_START_SECONDS = 60.0
_TABLE = """
CREATE TABLE IF NOT EXISTS orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, item text NOT NULL, coupon text NOT NULL,
    taken timestamptz NOT NULL DEFAULT now(), state text NOT NULL DEFAULT 'taken'
)
"""


class Spool:
    """The directory of receipts, which may hold so much and no more."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._lock = threading.Lock()
        layout.spool.mkdir(mode=0o700, parents=True, exist_ok=True)

    def keep(self, name: str, text: str) -> None:
        """Append to a file. Raises `OSError` where the spool has no room for it."""
        with self._lock:
            self.need(len(text))
            with (self._layout.spool / name).open("a", encoding="utf-8") as file:
                file.write(text)

    def need(self, size: int) -> None:
        """Raises `OSError` where the spool has no room for so many bytes."""
        used = sum(each.stat().st_size for each in self._layout.spool.iterdir())
        if used + size > SPOOL_LIMIT:
            raise OSError(errno.ENOSPC, "No space left on the spool", str(self._layout.spool))


class Shop:
    """What the web service does, apart from HTTP."""

    def __init__(self, layout: Layout) -> None:
        self.release = layout.read_release()
        self._layout = layout
        self._spool = Spool(layout)
        self._cache = Redis.from_url(layout.read_store_url("cache"), socket_timeout=2)
        self._pool: Pool = ConnectionPool(
            layout.read_store_url("orders"),
            min_size=2,
            max_size=POOL_SIZE,
            timeout=_POOL_SECONDS,
            kwargs={"application_name": f"shop-web release {self.release['version']}"},
            open=True,
        )
        self._take = Checkout(self._pool).named(self.release["checkout"])
        with self._pool.connection(timeout=_START_SECONDS) as connection:
            connection.execute(_TABLE)

    def show_health(self) -> dict[str, object]:
        """Does what an order needs, but for the order. Raises what an order would."""
        with self._pool.connection() as connection:
            connection.execute("SELECT 1")
        self._cache.set("health", "." * _HEALTH_BYTES, ex=60)
        self._spool.need(_HEALTH_BYTES)
        return {"status": "well", "release": self.release["version"]}

    def show_catalogue(self) -> dict[str, object]:
        self._cache.set("catalogue:shown", "1", ex=60)
        return {"items": ["lamp", "chair", "table"]}

    def take_order(self, order: dict[str, object]) -> dict[str, object]:
        """Write the order down, keep its cart and its receipt, and hand it to the worker."""
        item, coupon = str(order.get("item", "")), str(order.get("coupon", ""))
        number = self._take(item, coupon)
        self._cache.set(f"cart:{number}", str(order.get("cart", "")), ex=_CART_SECONDS)
        self._debug(f"order {number} {json.dumps(order)}")
        self._spool.keep("receipts.txt", f"{number} {item}\n")
        message = {"order": number, "quantity": order.get("quantity", 1)}
        self._cache.rpush("orders:waiting", json.dumps(message))
        return {"order": number}

    def show_order(self, number: int) -> dict[str, object]:
        with self._pool.connection() as connection:
            row = connection.execute("SELECT state FROM orders WHERE id = %s", [number]).fetchone()
        return {"order": number, "state": row[0] if row else "unknown"}

    def _debug(self, text: str) -> None:
        if read_object(self._layout.web_settings).get("log_level") == "debug":
            self._spool.keep("web-debug.log", f"{text} {'.' * 65_536}\n")


class Handler(BaseHTTPRequestHandler):
    """One request. What goes wrong is an answer of 503 with its reason, and a line in the log."""

    timeout = _SILENT_SECONDS

    def do_GET(self) -> None:
        match self.path.strip("/").split("/"):
            case [""]:
                self._answer(self._shop.show_catalogue)
            case ["healthz"]:
                self._answer(self._shop.show_health)
            case ["orders", number] if number.isdecimal():
                self._answer(lambda: self._shop.show_order(int(number)))
            case _:
                self._send(HTTPStatus.NOT_FOUND, {"error": "there is no such page"})

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        if self.path != "/orders" or size > _LARGEST_BODY:
            self._send(HTTPStatus.NOT_FOUND, {"error": "orders go to /orders"})
            return
        order = json.loads(self.rfile.read(size))
        self._answer(lambda: self._shop.take_order(order))

    @property
    def _shop(self) -> Shop:
        return cast(Server, self.server).shop

    def _answer(self, work: Callable[[], dict[str, object]]) -> None:
        try:
            found = work()
        except (PoolTimeout, psycopg.Error, RedisError, OSError) as error:
            reason = f"{type(error).__name__}: {error}"
            say(f"ERROR {self.command} {self.path} failed: {reason}")
            self._send(HTTPStatus.SERVICE_UNAVAILABLE, {"error": reason})
        else:
            self._send(HTTPStatus.OK, found)

    def _send(self, status: HTTPStatus, body: dict[str, object]) -> None:
        sent = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Requests that went well are not written down."""


class Server(ThreadingHTTPServer):
    """HTTP over TLS. A certificate that was replaced counts from the next start."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, layout: Layout, shop: Shop) -> None:
        super().__init__((HOST, shop.release["port"]), Handler)
        self.shop = shop
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(layout.certificate)
        # The handshake is the handling thread's: one that says nothing holds up no other.
        self.socket = context.wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False
        )

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        say(f"WARNING a connection broke: {sys.exception()}")


def main() -> None:
    layout: Layout = begin("Serves the shop.").layout
    for name in ("orders", "cache"):
        wait_for_file(layout.store_url(name), _START_SECONDS)
    shop = Shop(layout)
    server = Server(layout, shop)
    say(f"INFO release {shop.release['version']} listens on {HOST}:{shop.release['port']}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server.serve_forever()


if __name__ == "__main__":
    main()
