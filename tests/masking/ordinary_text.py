"""Makes lines of ordinary operations text that speak of secrets and hold none."""

import random
from collections.abc import Callable, Iterator

KINDS = (
    "password", "token", "secret", "api_key", "credential", "session", "auth", "signing_key",
    "access_token", "refresh_token", "client_secret", "passphrase", "private_key", "jwt",
)  # fmt: skip
OWNERS = ("grafana", "CI", "billing-api", "web-7d9f8c-x2kq5", "eu-west-1", "the deploy user",
          "tenant acme", "db-3.example.com", "node 12", "payments")  # fmt: skip
STATES = ("rotated", "expired", "missing", "not found", "revoked", "valid for 30 days", "renewed",
          "required", "unchanged", "see the wiki", "3 of 12 used", "stored in Vault")  # fmt: skip
COUNTED = ("resets", "failures", "requests", "cache_hits", "rotations", "errors", "refreshes",
           "reads", "lookups", "age_days", "ttl_seconds", "count", "size_bytes")  # fmt: skip


class OrdinaryText:
    """Lines of each source, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.sources: dict[str, Callable[[], str]] = {
            "metrics": self._metric, "dashboards": self._panel, "change logs": self._change,
            "tickets": self._ticket, "shell": self._command, "kubernetes": self._listing,
            "sql": self._query, "access logs": self._request, "settings": self._setting,
            "prose": self._sentence, "json": self._event,
        }  # fmt: skip

    def lines(self, source: str, count: int) -> Iterator[str]:
        for _ in range(count):
            yield self.sources[source]()

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _number(self, digits: int = 9) -> int:
        return self._random.randrange(10 ** self._random.randint(1, digits))

    def _kind(self) -> str:
        return self._pick(*KINDS)

    def _spoken(self) -> str:
        return self._kind().replace("_", " ")

    def _name(self) -> str:
        return (
            f"{self._pick('auth', 'shop', 'vault', 'login')}_{self._kind()}_{self._pick(*COUNTED)}"
        )

    def _metric(self) -> str:
        name, value = f"{self._name()}{self._pick('', '_total')}", self._number()
        return self._pick(
            f"{name} {value}", f'{name}{{pod="web-{self._hash()}",code="200"}} {value}',
            f"# HELP {name} Number of {self._spoken()} {self._pick(*COUNTED)}.", f"{name}: {value}",
            f"rate({name}[5m]) > {value}", f"{name}={value}", f"{name.replace('_', '.')}:{value}|c",
        )  # fmt: skip

    def _panel(self) -> str:
        what = f"{self._spoken()} {self._pick(*COUNTED).replace('_', ' ')}"
        return self._pick(
            f"{what.capitalize()}: {self._number(6):,} /min",
            f"Panel {what!r}: p99 {self._number(3)} ms",
            f"{what} by tenant | {self._number(4)} | {self._number(2)}%",
            f"{what.capitalize()} for {self._pick(*OWNERS)}: {self._number(6)}",
        )  # fmt: skip

    def _change(self) -> str:
        return self._pick(
            f"- Fix: {self._spoken()} {self._pick(*COUNTED)} counted twice (#{self._number(5)})",
            f"- Rename `{self._name()}` to `{self._name()}`",
            f"- Add `--{self._kind().replace('_', '-')}-file` for the {self._spoken()}",
            f"* feat(auth): rotate the {self._spoken()} every {self._number(2)}h",
        )  # fmt: skip

    def _ticket(self) -> str:
        number = f"{self._pick('OPS', 'INC', 'SEC')}-{self._number(5)}"
        return self._pick(
            f"{number}: {self._spoken()} for {self._pick(*OWNERS)}: {self._pick(*STATES)}",
            f"{number} {self._spoken()} of {self._pick(*OWNERS)} was {self._pick(*STATES[:5])}",
            f"Owner of the {self._spoken()} for {self._pick(*OWNERS)}: platform-team",
        )

    def _command(self) -> str:
        return self._pick(
            f"$ kubectl get {self._pick('secret', 'pods')} -n shop -l app=web",
            f"$ grep -rn {self._kind()} /etc/{self._pick('app', 'nginx')}/",
            f"$ curl -s https://api.example.com/v1/{self._kind()}s?limit={self._number(2)} \\",
            f"$ export {self._kind().upper()}_FILE=/run/secrets/{self._kind()}",
            f"$ vault kv get -format=json kv/shop/{self._kind()} | jq .data.metadata",
        )

    def _listing(self) -> str:
        return self._pick(
            f"{self._kind().replace('_', '-')}-service-{self._hash()}-x2kq5   1/1   Running   "
            f"{self._number(2)}   {self._number(2)}d",
            f"{self._kind().replace('_', '-')}s-{self._number(2)}   Opaque   {self._number(1)}  9d",
            f"    secretName: {self._kind().replace('_', '-')}-{self._number(2)}",
        )

    def _query(self) -> str:
        return self._pick(
            f"SELECT count(*) FROM {self._name()} WHERE id > {self._number()};",
            f"ALTER TABLE users ADD COLUMN {self._kind()}_hash varchar(255) NOT NULL;",
            f"CREATE INDEX idx_{self._name()} ON users ({self._kind()});",
            f"UPDATE jobs SET state = 'done' WHERE name = '{self._name()}';",
        )

    def _request(self) -> str:
        return (
            f"10.0.0.{self._number(2)} - - [4/May/2026:10:00:0{self._number(1)} +0000] "
            f'"GET /v1/{self._kind()}/{self._pick("refresh", "reset", "list")} HTTP/1.1" 200 '
            f"{self._number(5)}"
        )

    def _setting(self) -> str:
        return self._pick(
            f"{self._kind()}_file: /etc/app/{self._kind()}.txt",
            f"{self._kind()}_ttl: {self._number(3)}h",
            f"{self._kind()}_min_length={self._number(2)}", f"{self._kind()}_type: opaque",
            f"{self._kind()}_url: https://login.example.com/{self._kind()}",
            f"{self._kind()}_rotation_enabled: true", f"{self._kind()}_version: {self._number(2)}",
        )  # fmt: skip

    def _sentence(self) -> str:
        return self._pick(
            f"The {self._spoken()} for {self._pick(*OWNERS)} was rotated, then pods restarted.",
            f"Ask {self._pick(*OWNERS)} before you revoke the {self._spoken()}.",
            f"{self._spoken().capitalize()} for {self._pick(*OWNERS)}: {self._pick(*STATES)}",
            f"{self._spoken().capitalize()} ({self._pick('optional', 'required')}): "
            f"{self._pick('string', 'yes', 'no')}",
        )

    def _event(self) -> str:
        return self._pick(
            f'{{"event":"{self._name()}","count":{self._number()},"window":"5m"}}',
            f'{{"{self._kind()}_expires_in":{self._number(5)},"user_id":{self._number(5)}}}',
            f'{{"msg":"{self._spoken()} for {self._pick(*OWNERS)}: {self._pick(*STATES)}"}}',
        )

    def _hash(self) -> str:
        return f"{self._random.randrange(16**10):010x}"
