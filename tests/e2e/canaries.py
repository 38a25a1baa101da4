"""Sixty invented secrets of different kinds, and how to find one that got away."""

import base64
import json
import random
import string
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

WORDS = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Canary:
    """`text` is what somebody says, with the secret in it."""

    kind: str
    secret: str
    text: str


def _kinds(pick: random.Random) -> Iterator[tuple[str, str, str]]:
    def some(count: int, alphabet: str = WORDS) -> str:
        # A letter and a digit in front, so that no draw is without either.
        return "k7" + "".join(pick.choices(alphabet, k=count - 2))

    hexadecimal = "0123456789abcdef"
    yield "github", "ghp_" + some(36), "cloned with {}"
    yield "gitlab", "glpat-" + some(20), "CI used {} for it"
    yield "slack", "xoxb-1234567890-" + some(24), "posted by {}"
    yield "anthropic", "sk-ant-api03-" + some(40), "model key {}"
    yield "openai", "sk-proj-" + some(40), "billing of {}"
    yield "google", "AIza" + some(35), "maps with {}"
    yield "aws id", "AKIA" + some(16, string.ascii_uppercase + "234567").upper(), "signed by {}"
    yield "aws secret", some(40), "aws_secret_access_key={}"
    yield "stripe", "sk_live_" + some(24), "charged by {}"
    yield "npm", "npm_" + some(36), "//registry.npmjs.org/:_authToken={}"
    yield "vault", "hvs." + some(24), "root token {}"
    yield "jwt", f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx{some(10)}.{some(40)}", "cookie says {}"
    yield "bearer", some(32), "Authorization: Bearer {}"
    yield "basic", base64.b64encode(some(24).encode()).decode(), "Authorization: Basic {}"
    yield "url", some(14), "connect to postgres://app:{}@db-1:5432/shop failed"
    yield "password", some(14), "password={}"
    yield "yaml password", some(14), "db:\n  password: {}\n  port: 5432"
    yield "json password", some(14), '{{"user": "app", "password": "{}", "n": 1}}'
    yield "api key", some(32, hexadecimal), "api_key: {}"
    yield "cookie", some(32), "Cookie: theme=dark; sessionid={}"
    yield "command line", some(14), "mysql -h db -p{} app"
    yield "option", some(14), "tool --password {} --port 80"
    yield "sql", some(14), "ALTER USER app WITH PASSWORD '{}'"
    yield (
        "manifest",
        base64.b64encode(some(15).encode()).decode(),
        ("kind: Secret\nmetadata:\n  name: db\ndata:\n  url: {}"),
    )
    yield (
        "json manifest",
        base64.b64encode(some(15).encode()).decode(),
        ('{{"kind": "Secret", "data": {{"url": "{}"}}, "metadata": {{"name": "db"}}}}'),
    )
    yield "variable", some(16), "env:\n- name: DB_PASSWORD\n  value: {}"
    yield "pem", some(64), "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----"
    yield "webhook", some(24), "https://hooks.slack.com/services/T00000000/B00000000/{}"
    yield "encoded", base64.b64encode(f"password={some(14)} x".encode()).decode(), "blob {} end"
    yield "signature", some(64, hexadecimal), "https://b.example.com/k?X-Amz-Signature={}&a=1"


def make_canaries(seed: int = 20) -> list[Canary]:
    """Two of each kind."""
    pick = random.Random(seed)
    return [
        Canary(kind, secret, text.format(secret))
        for _ in range(2)
        for kind, secret, text in _kinds(pick)
    ]


def find_escaped(canaries: list[Canary], where: str) -> list[str]:
    """Which of them can be read in a text: raw, percent, JSON-escaped or within base64."""
    return [canary.kind for canary in canaries if any(w in where for w in _writings(canary.secret))]


def _writings(secret: str) -> set[str]:
    writings = {secret, quote(secret, safe=""), json.dumps(secret)[1:-1], secret[-12:]}
    for shift in range(3):
        # In base64 a text looks different by where it begins; its edges depend on what is around.
        encoded = base64.b64encode(b"\0" * shift + secret.encode()).decode().rstrip("=")
        writings.add(encoded[4:-4])
    return writings
