"""Signs that a text has to be read as more than single lines, wherever they stand in it."""

from typing import Literal

from mcp_bridge.masking.assignments import SECRET_NAME
from mcp_bridge.masking.encodings import BASE64_BEGINNING

Hint = Literal[
    "secret_kind", "variable", "pem", "escape", "percent", "block", "printed", "base64", "generator"
]

_QUOTE = r"\\*[\"']?"

STRUCTURE_HINTS: dict[Hint, str] = {
    # `kind: Secret` as YAML, JSON (escaped or not), a Go map.
    "secret_kind": rf"kind{_QUOTE}\s*:\s*{_QUOTE}Secret(?:List)?(?:[^A-Za-z0-9]|$)",
    # `name: DB_PASSWORD` beside `value: ...`.
    "variable": rf"(?i)(?:name|key){_QUOTE}\s*[:=]\s*{_QUOTE}[A-Z0-9_.\-]*{SECRET_NAME}"
    r"(?:[^A-Z0-9]|$)",
    "pem": r"-----BEGIN |PRIVATE KEY-----|Private-Lines: ",
    # Escapes that may hide anything, unlike an escaped quote.
    "escape": r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})",
    "percent": r"%(?:3[AaDd]|40|2[26])|%25(?:3[AaDd]|40|2[26])",
    # `password: |`, with the value on the lines below.
    "block": rf"(?i){SECRET_NAME}{_QUOTE}\s*:[ \t]*(?:[|>][+\-]?[0-9]?)?[ \t\r]*(?:\\|$)",
    "printed": r"get\s+secrets?\b.*(?:jsonpath|template)",
    "generator": rf"random_(?:password|string|id|bytes)\b|sensitive{_QUOTE}\s*:\s*true",
    "base64": rf"(?:^|[^A-Za-z0-9+/_\-]){BASE64_BEGINNING}",
}
"""RE2 patterns; every one also matches through the escapes of a string within a string."""
