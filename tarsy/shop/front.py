"""The shop as its customers reach it."""

import http.client
import json
import ssl
from dataclasses import dataclass
from pathlib import Path

from tarsy.shop.layout import HOST, Layout, read_object

_SECONDS = 3.0
_LARGEST_ANSWER = 65_536


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: dict[str, object]

    @property
    def error(self) -> str:
        return str(self.body.get("error", ""))[:300]


@dataclass(frozen=True)
class Front:
    """The address that customers know, whatever the web service is told to listen on."""

    port: int
    authority: Path

    @classmethod
    def of(cls, layout: Layout) -> "Front":
        return cls(int(str(read_object(layout.front)["port"])), layout.authority)

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.port}"

    def show(self, path: str) -> Answer:
        """Raises `OSError` where nobody answers, or not as it must."""
        return self._ask("GET", path)

    def order(self, order: dict[str, object]) -> Answer:
        """Raises `OSError` where nobody answers, or not as it must."""
        return self._ask("POST", "/orders", json.dumps(order))

    def _ask(self, method: str, path: str, body: str | None = None) -> Answer:
        context = ssl.create_default_context(cafile=str(self.authority))
        connection = http.client.HTTPSConnection(HOST, self.port, timeout=_SECONDS, context=context)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return Answer(answer.status, json.loads(answer.read(_LARGEST_ANSWER)))
        except (http.client.HTTPException, ValueError) as error:
            raise OSError(f"no answer of HTTP: {error!r}") from error
        finally:
            connection.close()
