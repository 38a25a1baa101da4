"""Secrets in the code of programs, and in what programs print of their values."""

from masking.secret_names import NAME_ENDINGS, STRONG_ENDINGS, looks_like_credential
from masking.token_rule import STRING, TokenRule, is_real

_NAME = rf"[A-Za-z0-9_.:\-]*(?:{NAME_ENDINGS})"
_STRONG_NAME = rf"[A-Za-z0-9_.:\-]*(?:{STRONG_ENDINGS})"
_FALLBACK_NAME = rf"{STRONG_ENDINGS}|token|secret|(?:api|secret|access|private)_?key(?:_base)?"


def _is_fallback(value: str) -> bool:
    return len(value) >= 6 and is_real(value)


PROGRAM_RULES: tuple[TokenRule, ...] = (
    # What stands in for a variable that is not set.
    TokenRule("password", "password",
              rf"(?i)\b(?:env\.|environ\[\s*[\"']|env\[\s*[\"'])[A-Z0-9_]*(?:{_FALLBACK_NAME})"
              rf"[\"'\]]*\s*(?:\|\||\?\?|\bor\b)\s*{STRING}", _is_fallback),
    TokenRule("password", "password",
              r"(?i)\b(?:getenv|environ\.get|env|config|fetch|setdefault|"
              rf"get(?:Or|_or_)?(?:Property|Default|Env)[a-z]*)\(\s*\\*[\"'][a-z0-9_.]*(?:{_FALLBACK_NAME})\\*[\"']\s*,\s*(?:default=)?{STRING}",
              _is_fallback),
    # Arguments behind a name or a user.
    TokenRule("password", "password",
              r"\bDBI->connect\((?:\s*\\*[\"'][^\"'\n]*[\"']\s*,){2}\s*" + STRING, is_real),
    TokenRule("password", "password", rf"(?i)\bPRAGMA\s+(?:re)?key\s*=\s*{STRING}", is_real),
    TokenRule("password", "password",
              rf"(?i)\bconvertto-securestring\s+(?:-asplaintext\s+)?(?:-string\s+)?{STRING}",
              is_real),
    TokenRule("password", "password",
              r"(?i)(?:basic_?auth|password_?authenticator|networkcredential|passwordcredentials|"
              rf"pscredential|\bauth=|\blogin|signin)\(\s*\\*[\"'][^\"'\n]*\\*[\"']\s*,\s*{STRING}\s*[,)]",
              is_real),
    TokenRule("secret", "secret",
              r"(?i)\b(?:symmetricsecuritykey|secretkeyspec|hmacsha[0-9]+|hmacshakeyfor)"
              r"\([^\"'\n]{0,60}" + STRING, looks_like_credential),
    TokenRule("secret", "secret",
              rf"\bjwt\.(?:sign|encode|verify|decode)\([^\"'\n]{{1,80}},\s*{STRING}", is_real),
    TokenRule("password", "password",
              rf"(?i){_STRONG_NAME}:\s\(string\)\s\(len=[0-9]+\)\s{STRING}", is_real),
    TokenRule("secret", "secret",
              rf"(?i){_NAME}:\s\(string\)\s\(len=[0-9]+\)\s{STRING}", looks_like_credential),
)  # fmt: skip
