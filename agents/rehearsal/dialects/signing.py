"""Signatures as providers give them out: they fit what they sign, and nothing else."""

import base64
import hashlib
import json
from collections.abc import Mapping

from pydantic import JsonValue


def sign_thought(text: str) -> str:
    return _sign(text)


def sign_call(name: str, arguments: Mapping[str, JsonValue] | str) -> str:
    """The same however the arguments are written."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return _sign(f"{name} {arguments}")
    return _sign(f"{name} {json.dumps(arguments, sort_keys=True)}")


def _sign(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode(errors="surrogatepass")).digest()).decode()
