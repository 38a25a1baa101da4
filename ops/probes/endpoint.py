"""One request to the endpoint of a service, and the certificate that it shows."""

import http.client
import socket
import ssl
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from cryptography import x509

from ops.envelope import Json

_SECONDS = 4.0
_SHOWN_BYTES = 2_000

Fault = Literal["refused", "timeout", "tls", "unreachable", "no_http", "status"]


@dataclass(frozen=True)
class EndpointState:
    """How an endpoint answered. `fault` is None where it is well."""

    url: str
    milliseconds: int
    fault: Fault | None = None
    error: str = ""
    status: int | None = None
    body: str = ""
    certificate: dict[str, Json] = field(default_factory=dict)

    @property
    def problem(self) -> str:
        """In a clause for people; empty where it is well."""
        match self.fault:
            case None:
                return ""
            case "status":
                return f"{self.url} answers {self.status}: {self.body[:300]}"
            case "refused":
                return f"nobody listens at {self.url}: {self.error}"
            case _:
                return f"{self.url} does not answer as it must ({self.fault}): {self.error}"

    def to_json(self) -> dict[str, Json]:
        return {
            "url": self.url,
            "port": _port_of(self.url),
            "fault": self.fault,
            "error": self.error or None,
            "status": self.status,
            "body": self.body or None,
            "milliseconds": self.milliseconds,
            "certificate": self.certificate or None,
        }


def probe_endpoint(url: str, authority_file: Path | None) -> EndpointState:
    """Ask for the page once. What it answers is shown in part."""
    started = time.monotonic()
    certificate: dict[str, Json] = {}
    fault: Fault | None = None
    error, status, body = "", None, ""
    try:
        if url.startswith("https:"):
            certificate = _read_certificate(url)
        status, body = _get(url, authority_file)
        fault = None if status < http.client.BAD_REQUEST else "status"
    except ssl.SSLError as reason:
        fault, error = "tls", str(reason)
    except ConnectionRefusedError as reason:
        fault, error = "refused", str(reason)
    except TimeoutError as reason:
        fault, error = "timeout", str(reason) or f"no answer within {_SECONDS:.0f} s"
    except http.client.HTTPException as reason:
        fault, error = "no_http", repr(reason)
    except OSError as reason:
        fault, error = "unreachable", str(reason)
    spent = round((time.monotonic() - started) * 1000)
    return EndpointState(url, spent, fault, error[:500], status, body, certificate)


def _get(url: str, authority_file: Path | None) -> tuple[int, str]:
    parts = urlsplit(url)
    host, port = parts.hostname or "", _port_of(url)
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=authority_file and str(authority_file))
        connection = http.client.HTTPSConnection(host, port, timeout=_SECONDS, context=context)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
    try:
        path = parts.path or "/"
        connection.request("GET", f"{path}?{parts.query}" if parts.query else path)
        answer = connection.getresponse()
        return answer.status, answer.read(_SHOWN_BYTES).decode("utf-8", "replace")
    finally:
        connection.close()


def _read_certificate(url: str) -> dict[str, Json]:
    """The certificate as it is shown, whoever signed it and whenever it ends or ended."""
    parts = urlsplit(url)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    host = parts.hostname or ""
    with (
        socket.create_connection((host, _port_of(url)), _SECONDS) as plain,
        context.wrap_socket(plain, server_hostname=host) as wrapped,
    ):
        shown = wrapped.getpeercert(binary_form=True)
    if shown is None:
        return {}
    try:
        return _describe_certificate(shown)
    # Whatever a stranger shows: its reader has errors of many kinds for what is no certificate.
    except Exception as error:
        return {"unreadable": f"it cannot be read: {error}"[:300]}


def _describe_certificate(shown: bytes) -> dict[str, Json]:
    found = x509.load_der_x509_certificate(shown)
    left = found.not_valid_after_utc - datetime.now(UTC)
    return {
        "subject": found.subject.rfc4514_string(),
        "issuer": found.issuer.rfc4514_string(),
        "not_before": found.not_valid_before_utc.isoformat(),
        "not_after": found.not_valid_after_utc.isoformat(),
        "is_expired": left.total_seconds() < 0,
        "days_left": round(left.total_seconds() / 86_400, 2),
    }


def _port_of(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)
