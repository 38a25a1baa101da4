"""What others put in front of a deployment: an end of TLS, and a proxy that asks for a login.

Both are nginx with the few lines that such a thing needs. The identity proxy stands for
oauth2-proxy, whose image cannot be run here: it reads the variables of that service, and sends what
oauth2-proxy sends for `--pass-user-headers --prefer-email-to-user`. X-Forwarded-User holds the
mailbox, X-Forwarded-Groups and X-Forwarded-Preferred-Username are replaced as well, its peer is
added to X-Forwarded-For, and what else a browser sends is handed on as it came: X-Forwarded-Proto,
X-Forwarded-Email and X-Remote-User too.
"""

import os
import threading
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

COOKIE = "_oauth2_proxy"
PEOPLE = {
    "ada": ("ada@example.com", "ada", "engineers"),
    "bob": ("bob@example.com", "bob", "engineers"),
}
"""Whom the login knows: mailbox, preferred name, groups."""

FRAME = """
daemon off;
{user}
worker_processes 1;
pid {home}/nginx.pid;
error_log stderr notice;
events {{ worker_connections 512; }}
http {{
    include /etc/nginx/mime.types;
    default_type application/octet-stream;
    access_log off;
    client_body_temp_path {home}/body;
    proxy_temp_path {home}/proxy;
    fastcgi_temp_path {home}/fastcgi;
    uwsgi_temp_path {home}/uwsgi;
    scgi_temp_path {home}/scgi;
    proxy_bind {address};
    {inner}
}}
"""
PASS_ON = """
        proxy_http_version 1.1;
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection $connection_upgrade;
        proxy_read_timeout 3600s;
"""
UPGRADE = "map $http_upgrade $connection_upgrade { default upgrade; '' close; }"
END_OF_TLS = """
    {upgrade}
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {home}/tls.pem;
        ssl_certificate_key {home}/tls.key;
        location / {{
            {pass_on}
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_pass {upstream};
        }}
    }}
"""
IDENTITY_PROXY = """
    {upgrade}
    server {{
        listen {inside};
        listen {outside};
        location = /ping {{ return 200 OK; }}
        location /oauth2/ {{ proxy_pass {login}; proxy_set_header Host $http_host; }}
        location = /oauth2/auth {{
            internal;
            proxy_pass {login};
            proxy_pass_request_body off;
            proxy_set_header Content-Length "";
        }}
        location / {{
            auth_request /oauth2/auth;
            error_page 401 = @sign_in;
            auth_request_set $email $upstream_http_x_auth_request_email;
            auth_request_set $groups $upstream_http_x_auth_request_groups;
            auth_request_set $preferred $upstream_http_x_auth_request_preferred_username;
            {pass_on}
            proxy_set_header X-Forwarded-User $email;
            proxy_set_header X-Forwarded-Groups $groups;
            proxy_set_header X-Forwarded-Preferred-Username $preferred;
            proxy_pass {upstream};
        }}
        location @sign_in {{ return 302 /oauth2/sign_in?rd=$request_uri; }}
    }}
"""


def write_frame(home: Path, address: str, inner: str) -> None:
    # Its workers would not get at the folders of a test as somebody else.
    user = "user root;" if os.geteuid() == 0 else ""
    text = FRAME.format(home=home, address=address, inner=inner, user=user)
    (home / "nginx.conf").write_text(text, encoding="utf-8")


def write_end_of_tls(home: Path, *, address: str, port: int, upstream: str) -> None:
    inner = END_OF_TLS.format(
        home=home, port=port, upstream=upstream, pass_on=PASS_ON, upgrade=UPGRADE
    )
    write_frame(home, address, inner)


def write_identity_proxy(
    home: Path, *, address: str, inside: str, outside: str, upstream: str, login: str
) -> None:
    inner = IDENTITY_PROXY.format(
        inside=inside, outside=outside, upstream=upstream, login=login,
        pass_on=PASS_ON, upgrade=UPGRADE,
    )  # fmt: skip
    write_frame(home, address, inner)


def make_certificate(home: Path, host: str, *, ends_in: timedelta = timedelta(days=2)) -> None:
    """Self-made, for this host; it began a week ago, and may have ended since."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=7))
        .not_valid_after(now + ends_in)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (home / "tls.pem").write_bytes(certificate.public_bytes(pem))
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (home / "tls.key").write_bytes(key.private_bytes(pem, *plain))


class LoginPage(ThreadingHTTPServer):
    """The part of the identity proxy that asks, and remembers by a cookie."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Login)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, name="login page", daemon=True).start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


class _Login(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/oauth2/auth":
            self._answer_for_the_cookie()
            return
        target = quote(parse_qs(parts.query).get("rd", ["/"])[0])
        page = (
            "<!doctype html><title>Sign in</title><h1>Example identity provider</h1>"
            f'<form method="post" action="/oauth2/callback?rd={target}">'
            '<input name="name" id="name"><button>Continue</button></form>'
        )
        self._send(200, page.encode(), {"Content-Type": "text/html"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        name = parse_qs(body).get("name", [""])[0]
        target = parse_qs(urlsplit(self.path).query).get("rd", ["/"])[0]
        if name not in PEOPLE:
            self._send(403, b"nobody of this name", {})
            return
        self._send(302, b"", {"Location": target, "Set-Cookie": f"{COOKIE}={name}; Path=/"})

    def _answer_for_the_cookie(self) -> None:
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get(COOKIE)
        if cookie is None or cookie.value not in PEOPLE:
            self._send(401, b"", {})
            return
        email, preferred, groups = PEOPLE[cookie.value]
        self._send(202, b"", {
            "X-Auth-Request-Email": email, "X-Auth-Request-Groups": groups,
            "X-Auth-Request-Preferred-Username": preferred,
        })  # fmt: skip

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""
