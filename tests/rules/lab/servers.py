# ruff: noqa: E501  # a scene is as long as it is
"""Servers as Debian sets them up, for scenes to break."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import redis

from tests.rules.host_scenarios import FINE_UNITS, UNITS, Host
from tests.rules.lab.machine import Machine

PG_DATA = "/var/lib/postgresql/15/main"
PG_LOG = "/var/log/postgresql/postgresql-15-main.log"
_PG = Path("/usr/lib/postgresql/15/bin")
_PG_USUAL = {
    "unix_socket_directories": "/var/run/postgresql",
    "listen_addresses": "127.0.0.1",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "log_timezone": "Etc/UTC",
    "cluster_name": "15/main",
    "shared_buffers": "16MB",
    "fsync": "off",
    "autovacuum_naptime": "1s",
}
REDIS_LOG = "/var/log/redis/redis-server.log"
NGINX_LOG = "/var/log/nginx/error.log"
_NGINX = """user www-data;
worker_processes 1;
pid /run/nginx.pid;
error_log /var/log/nginx/error.log;
{main}
events {{ worker_connections {connections}; }}
http {{
    include /etc/nginx/mime.types;
    access_log /var/log/nginx/access.log;
{http}
}}
"""


def with_units(*lines: str, **more: Any) -> Host:
    """A host that runs these units besides the usual ones."""
    return Host(commands={UNITS: FINE_UNITS + "".join(f"{line}\n" for line in lines)}, **more)


POSTGRES_HOST = with_units(
    "postgresql@15-main.service loaded active running PostgreSQL Cluster 15-main"
)
REDIS_HOST = with_units("redis-server.service loaded active running Advanced key-value store")
RABBIT_HOST = with_units("rabbitmq-server.service loaded active running RabbitMQ Messaging Server")


def start_postgres(machine: Machine, *, up: str = "9d", before: Callable[[], object] | None = None,
                   **settings: str) -> None:  # fmt: skip
    """PostgreSQL with the database `shop`, started that long ago."""
    machine.give_to("postgres", "/var/run/postgresql", "/var/log/postgresql", PG_DATA)
    Path(PG_DATA).chmod(0o700)
    machine.run(
        _PG / "initdb", "-D", PG_DATA, "-U", "postgres", "--auth=trust", "-N", user="postgres"
    )
    text = "".join(f"{name} = '{value}'\n" for name, value in {**_PG_USUAL, **settings}.items())
    with Path(PG_DATA, "postgresql.conf").open("a") as file:
        file.write(text)
    if before is not None:
        before()
    machine.turn_clock_back(up)
    run_postgres(machine)
    with connect("postgres", "postgres") as admin:
        for line in (
            "CREATE ROLE root LOGIN SUPERUSER", "CREATE ROLE shop LOGIN PASSWORD 'a'", "CREATE ROLE report LOGIN",
            "CREATE DATABASE shop OWNER shop", "CREATE DATABASE root",
        ):  # fmt: skip
            admin.execute(line)
    with connect("shop", "shop") as shop:
        shop.execute(
            "CREATE TABLE orders (id bigserial primary key, customer int, total numeric, state text)"
        )
        shop.execute(
            "INSERT INTO orders (customer, total, state) SELECT n % 500, n, 'paid' FROM generate_series(1, 5000) n"
        )
        shop.execute("CREATE TABLE stock (id int primary key, amount int)")
        shop.execute("INSERT INTO stock SELECT n, 10 FROM generate_series(1, 200) n")
    with connect("shop", "postgres") as admin:
        admin.execute("VACUUM ANALYZE")
    machine.turn_clock_back("0")


def run_postgres(
    machine: Machine, data: str = PG_DATA, port: int = 5432, *, waits: bool = True
) -> None:
    machine.start(
        f"postgres-{port}",
        _PG / "postgres",
        "-D",
        data,
        "-p",
        str(port),
        user="postgres",
        log=PG_LOG,
    )
    if waits:
        machine.wait_until(
            lambda: connect("postgres", "postgres", port=port).close() is None, "PostgreSQL"
        )


def connect(
    database: str, user: str, application: str = "", *, port: int = 5432, begins: bool = False
) -> Any:
    return psycopg.connect(
        host="127.0.0.1", port=port, dbname=database, user=user, autocommit=not begins,
        application_name=application, connect_timeout=5,
    )  # fmt: skip


_HELD: list[Any] = []


def hold(thing: Any) -> Any:
    """Keeps a connection open until the machine ends."""
    _HELD.append(thing)
    return thing


def in_background(work: Callable[[], object]) -> None:
    """For what waits for ever, or ends with an error that is part of the scene."""

    def quietly() -> None:
        try:
            work()
        except Exception:
            return

    threading.Thread(target=quietly, daemon=True).start()


def wait_for_activity(machine: Machine, condition: str, count: int = 1) -> None:
    query = f"SELECT count(*) FROM pg_stat_activity WHERE {condition}"
    with connect("postgres", "postgres") as admin:
        machine.wait_until(lambda: admin.execute(query).fetchone()[0] >= count, condition)


def start_redis(
    machine: Machine, *, up: str = "9d", port: int = 6379, waits: bool = True, **settings: str
) -> Any:
    machine.give_to("redis", "/var/lib/redis", "/var/log/redis", "/run/redis")
    given = {"dir": "/var/lib/redis", "logfile": REDIS_LOG, "port": str(port), "bind": "127.0.0.1",
             **{name.replace("_", "-"): value for name, value in settings.items()}}  # fmt: skip
    text = "".join(f"{name} {value}\n" for name, value in given.items())
    machine.write(f"/etc/shop/redis-{port}.conf", text)
    machine.turn_clock_back(up)
    machine.start(
        f"redis-{port}", "/usr/bin/redis-server", f"/etc/shop/redis-{port}.conf", user="redis"
    )
    client = redis_client(port)
    if waits:
        machine.wait_until(client.ping, "Redis")
        machine.turn_clock_back("0")
    return client


def redis_client(port: int = 6379, **more: Any) -> Any:
    return redis.Redis(port=port, decode_responses=True, socket_connect_timeout=3, **more)


def write_nginx(machine: Machine, http: str, *, main: str = "", connections: int = 512) -> None:
    machine.write(
        "/etc/nginx/nginx.conf", _NGINX.format(main=main, http=http, connections=connections)
    )


def start_nginx(
    machine: Machine, http: str, *, ago: str = "0", main: str = "", connections: int = 512
) -> None:
    Path("/var/log/nginx").mkdir(parents=True, exist_ok=True)
    machine.give_to("www-data", "/var/lib/nginx")
    write_nginx(machine, http, main=main, connections=connections)
    machine.turn_clock_back(ago)
    machine.start("nginx", "/usr/sbin/nginx", "-g", "daemon off;")
    machine.wait_until(lambda: Path("/run/nginx.pid").read_text(), "nginx")
    machine.wait_until(lambda: "nginx" in machine.run("ss", "-ltnp"), "nginx listening")


def ask(machine: Machine, *urls: str, times: int = 1) -> None:
    """What users of the site do."""
    for url in urls * times:
        machine.run("curl", "-sk", "-m", "4", "-o", "/dev/null", url, may_fail=True)


PAGE = """import http.server, sys, time
port, kind = int(sys.argv[1]), sys.argv[2]
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if kind == 'slow':
            time.sleep(30)
        if kind == 'cut':
            self.connection.close()
            return
        if kind == 'header':
            self.send_response(200)
            self.send_header('X-Trace', 'x' * 20000)
        else:
            self.send_response(int(kind) if kind.isdigit() else 200)
        self.end_headers()
        self.wfile.write(sys.argv[3].encode() if len(sys.argv) > 3 else b'ok')
    def do_POST(self):
        self.rfile.read(int(self.headers.get('Content-Length', 0)))
        self.do_GET()
    def log_message(self, form, *args):
        print(time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()), form % args, flush=True)
http.server.ThreadingHTTPServer(('127.0.0.1', port), Page).serve_forever()
"""


def start_page(
    machine: Machine, port: int, kind: str = "200", says: str = "ok", name: str = "checkout"
) -> None:
    """An application that listens at a port."""
    machine.write("/opt/shop/page.py", PAGE)
    machine.start(
        name,
        "/usr/bin/python3",
        "/opt/shop/page.py",
        str(port),
        kind,
        says,
        log=f"/var/log/shop/{name}.log",
    )
    machine.wait_for_port(port)


_RABBIT = {"ERL_EPMD_ADDRESS": "127.0.0.1", "HOME": "/var/lib/rabbitmq"}


def start_rabbit(machine: Machine, settings: str = "", *, waits: bool = True) -> None:
    machine.give_to("rabbitmq", "/var/lib/rabbitmq", "/var/log/rabbitmq", "/run/rabbitmq")
    secret = machine.write("/var/lib/rabbitmq/.erlang.cookie", "LABLABLABLAB", 0o400)
    machine.run("chown", "rabbitmq:rabbitmq", secret)
    machine.write("/etc/shop/rabbitmq.conf", f"listeners.tcp.1 = 127.0.0.1:5672\n{settings}\n")
    machine.start("rabbit", "/usr/lib/rabbitmq/bin/rabbitmq-server", user="rabbitmq",
                  RABBITMQ_CONFIG_FILE="/etc/shop/rabbitmq.conf", **_RABBIT)  # fmt: skip
    if waits:
        machine.wait_for_port(5672)
        machine.wait_until(lambda: broker().connect(), "RabbitMQ")


def broker() -> Any:
    from kombu import Connection

    return hold(Connection("amqp://guest:guest@127.0.0.1:5672//"))


def make_queue(name: str, messages: int = 0, **arguments: Any) -> Any:
    from kombu import Queue

    queue = Queue(name, durable=True, queue_arguments=arguments)(hold(broker().channel()))
    queue.declare()
    publish(name, messages)
    return queue


def publish(name: str, messages: int) -> None:
    producer = broker().Producer()
    for number in range(messages):
        producer.publish({"order": number}, routing_key=name, exchange="", retry=False)


def consume(name: str, handle: Callable[[Any], object], *, at_once: int = 10) -> None:
    """A consumer that handles what comes, in the background."""
    from kombu import Consumer, Queue

    connection = broker()
    consumer = Consumer(
        hold(connection.channel()),
        [Queue(name, no_declare=True)],
        callbacks=[lambda _, m: handle(m)],
        prefetch_count=at_once,
    )
    hold(consumer).consume()

    def work() -> None:
        while True:
            connection.drain_events()

    in_background(work)


def tell_kafka(machine: Machine, *rows: str, before: str = "") -> None:
    """What `kafka-consumer-groups.sh --describe` tells of partitions, as the documents of Kafka
    show it: there is no Kafka here."""
    head = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
    lines = [[f"{cell:<15}" for cell in line.split()] for line in (head, *rows)]
    table = "\n".join(" ".join(cells).rstrip() for cells in lines)
    machine.stand_in("kafka-consumer-groups.sh", f"{before}\n{table}\n")
