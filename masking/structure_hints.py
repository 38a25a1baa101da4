"""Signs that a text has to be read as more than single lines, wherever they stand in it."""

from typing import Literal

from masking.assignments import SECRET_NAME, SEPARATOR
from masking.columns import COLUMN_HEAD
from masking.encodings import BASE64_BEGINNING
from masking.sql_rows import SQL_ROWS
from masking.values_below import VALUE_BELOW

Hint = Literal[
    "secret_kind",
    "variable",
    "pem",
    "escape",
    "percent",
    "block",
    "printed",
    "base64",
    "generator",
    "list",
    "heredoc",
    "terraform",
    "below",
    "element",
    "string_data",
    "column",
    "sql_rows",
    "secret_literals",
]

_QUOTE = r"\\*[\"']?"

STRUCTURE_HINTS: dict[Hint, str] = {
    # `kind: Secret` as YAML, JSON (escaped or not), a Go map.
    "secret_kind": rf"kind{_QUOTE}\s*[:=]\s*{_QUOTE}Secret(?:List)?(?:[^A-Za-z0-9]|$)",
    # `name: DB_PASSWORD` beside `value: ...`.
    "variable": rf"(?i)(?:name|key|path){_QUOTE}\s*[:=]\s*{_QUOTE}(?:[A-Z0-9_.\-/]*{SECRET_NAME}"
    r"(?:[^A-Z0-9]|$)|/stringData/)",
    "pem": r"---- ?BEGIN |PRIVATE KEY-----|Private-Lines: ",
    # Escapes that may hide anything, unlike an escaped quote.
    "escape": r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})",
    "percent": r"%(?:3[AaDd]|40|2[26])|%25(?:3[AaDd]|40|2[26])",
    # `password: |` or `passwords:`, with values on the lines below.
    "block": rf"(?i){SECRET_NAME}s?{_QUOTE}\s*:[ \t]*(?:[|>][+\-]?[0-9]?)?[ \t\r]*(?:\\|$)",
    "printed": r"get\s+secrets?\b.*(?:jsonpath|template|jq|columns)|\bview-secret\s"
    r"|\bextract\s+secret/",
    "generator": rf"random_(?:password|string|id|bytes)\b|sensitive{_QUOTE}\s*:\s*true|"
    r"SecureString|://[^/\"\s]+/secrets/|\"kty\\*\"",
    "list": rf"(?i){SECRET_NAME}s?{SEPARATOR}\s*(?:[A-Z0-9_]+\()?[\[(]",
    "heredoc": rf"(?i){SECRET_NAME}{SEPARATOR}[ \t]*(?:\\*\"?\$\(\s*cat\s+)?<<[\-~]?[ \t]*"
    r"\\*['\"]?[A-Z_]",
    "terraform": r"(?:variable|output|random_(?:password|string|bytes)\\*\")\s+"
    r"\\*\"[^\"\n]+\"\s*\{",
    # A value alone on a line below, an element behind the one with its name.
    "below": VALUE_BELOW,
    "element": rf"(?i)<(?:name|key)>[^<\n]*{SECRET_NAME}\s*</",
    # Only Secrets have this.
    "string_data": r"\"stringData\\*\"\s*:\s*\{",
    "column": COLUMN_HEAD,
    "sql_rows": SQL_ROWS,
    "secret_literals": r"secretGenerator\\*[\"']?\s*:|\"kubernetes_secret",
    "base64": rf"(?:^|[^A-Za-z0-9+/_\-]){BASE64_BEGINNING}",
}
"""RE2 patterns; every one also matches through the escapes of a string within a string."""
