# ruff: noqa: E501  # a scene is as long as it is
"""A shop of declared services, as an operator without an init system would run it."""

import ipaddress
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ops.services.declaration import load_services
from ops.services.running import start
from tests.rules.lab.machine import Machine

_FILE = "/etc/shop/ops-services.yaml"
PROGRAM = """import http.server, json, os, ssl, sys, time
mode = sys.argv[2]
print(time.strftime('%FT%TZ', time.gmtime()), 'INFO listening at', sys.argv[1], flush=True)
def tell(text):
    print(time.strftime('%FT%TZ', time.gmtime()), text, flush=True)
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if mode == 'slow':
            time.sleep(30)
        failed = mode not in ('well', 'tls')
        if failed:
            tell('ERROR ' + mode)
        self.send_response(500 if failed else 200)
        self.end_headers()
        self.wfile.write((mode if failed else 'ok').encode())
    def log_message(self, form, *args):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Page)
if mode == 'tls':
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain('/etc/shop/cert.pem', '/etc/shop/key.pem')
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


def declare(
    machine: Machine, services: Mapping[str, Mapping[str, Any]], *, leave: tuple[str, ...] = ()
) -> None:
    """Writes the file of services and starts them, but for those to leave."""
    Path("/var/log/shop").mkdir(parents=True, exist_ok=True)
    machine.write("/opt/shop/web.py", PROGRAM)
    told = {
        name: {"pid_file": f"/run/{name}.pid", "log_file": f"/var/log/shop/{name}.log", **each}
        for name, each in services.items()
    }
    machine.write(_FILE, yaml.safe_dump({"services": told}))
    for service in load_services(Path(_FILE)):
        if service.name not in leave:
            start(service)
    for each in services.values():
        if each["argv"][-1] in ("well", "tls") and "shop-web" not in leave:
            machine.wait_for_port(int(each["argv"][-2]))


def web(mode: str = "well", port: int = 8080, **more: Any) -> dict[str, Any]:
    scheme = "https" if mode == "tls" else "http"
    return {"argv": ["/usr/bin/python3", "/opt/shop/web.py", str(port), mode],
            "endpoint": f"{scheme}://127.0.0.1:{port}/healthz", "description": "The web shop", **more}  # fmt: skip


def redis(*settings: str) -> dict[str, Any]:
    return {"argv": ["/usr/bin/redis-server", "--port", "6379", "--bind", "127.0.0.1", "--save", "", *settings],
            "store_file": "/etc/shop/redis.url", "description": "The cache of the shop"}  # fmt: skip


def write_certificate(
    begins: timedelta, ends: timedelta, names: tuple[str, ...] = (), folder: str = "/etc/shop"
) -> None:
    """A certificate for this machine, or for other names, from and until then."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0] if names else "127.0.0.1")])
    now = datetime.now(UTC)
    known: list[x509.GeneralName] = [x509.DNSName(each) for each in names]
    if not names:
        known = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now + begins).not_valid_after(now + ends)
        .add_extension(x509.SubjectAlternativeName(known), critical=False).sign(key, hashes.SHA256())
    )  # fmt: skip
    where, pem = Path(folder), serialization.Encoding.PEM
    where.mkdir(parents=True, exist_ok=True)
    (where / "cert.pem").write_bytes(made.public_bytes(pem))
    (where / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


def release(machine: Machine, *names: str, hours: float = 0.2) -> None:
    """Releases, of which the last one is in force since then."""
    import os
    import time

    for name in names:
        machine.write(f"/srv/releases/{name}/app.py", "x = 1\n")
    link = Path("/srv/releases/current")
    link.symlink_to(f"/srv/releases/{names[-1]}")
    then = time.time() - hours * 3600
    os.utime(link, (then, then), follow_symlinks=False)
    for number, name in enumerate(reversed(names)):
        os.utime(f"/srv/releases/{name}", (then - number * 864000,) * 2)
