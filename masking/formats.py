"""Secrets in files of settings, in markup, in SQL and in plain words."""

import re

from masking.secret_names import (
    NAME_ENDINGS,
    STRONG_ENDINGS,
    is_harmless,
    is_made_of_words,
    is_word_of_secret,
    looks_like_credential,
)
from masking.spoken_names import MAY_BE_SPOKEN, SPOKEN_NAME, is_spoken_secret
from masking.token_rule import (
    ARGUMENT,
    SAID_WORD,
    STRING,
    WORD,
    TokenRule,
    has_letters_and_digits,
    is_real,
)

_NAME = rf"[A-Za-z0-9_.:\-]*(?:{NAME_ENDINGS})"
_ELEMENT = r"[A-Za-z0-9_.:\-]*(?:token|secret|credentials?|psk)|[A-Za-z0-9_.:\-]+key"
_STRONG_NAME = rf"[A-Za-z0-9_.:\-]*(?:{STRONG_ENDINGS})"
_WRAPPER = r"(?:Sensitive|Some|Just|Ok|Secret|SecretString)\((?:Secret\()?\\*[\"']"
_TYPE = r"(?:\s*:\s+|\s+As\s+)[A-Za-z&?<>\[\]|.]{1,40}\s*"
_TAG_END = r"(?:\s[^<>\n]*)?>"
_ATTRIBUTE = r"\\*(?:\"([^\"\\]+)|'([^'\\]+))"
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-|[0-9]{1,2}:[0-9]{2}")
_MARK = re.compile(r"[!$^*~#@%&?]")
_RANDOM_PIECE = re.compile(r"[A-Za-z0-9]{20,}")


def is_in_column(value: str) -> bool:
    """A password or a token that stands beside its name: neither a time nor the name of a type."""
    if _TIME.match(value) or is_harmless(value):
        return False
    return (
        looks_like_credential(value) or bool(_MARK.search(value)) or has_letters_and_digits(value)
    )


def _is_one_random_piece(value: str) -> bool:
    return any(
        any(map(str.isdigit, piece)) and any(map(str.isalpha, piece))
        for piece in _RANDOM_PIECE.findall(value)
    )


def _is_password_in_macro(value: str) -> bool:
    return is_real(value) and (has_letters_and_digits(value) or bool(_MARK.search(value)))


FORMAT_RULES: tuple[TokenRule, ...] = (
    TokenRule("password", "password",
              rf"(?i)<{_STRONG_NAME}{_TAG_END}([^<\s][^<]*)</", is_real),
    TokenRule("secret", "secret", rf"(?i)<(?:{_ELEMENT}){_TAG_END}([^<\s][^<]*)</",
              looks_like_credential),
    TokenRule("password", "password",
              rf"(?i)<{_STRONG_NAME}{_TAG_END}\s*<!\[CDATA\[([^\]]+)\]", is_real),
    TokenRule("secret", "secret",
              rf"(?i)<(?:{_ELEMENT}){_TAG_END}\s*<!\[CDATA\[([^\]]+)\]", looks_like_credential),
    TokenRule("password", "password",
              rf"(?i)(?:name|key)=\\*[\"']{_STRONG_NAME}\\*[\"']\s+value={_ATTRIBUTE}",
              is_real),
    TokenRule("secret", "secret",
              rf"(?i)(?:name|key)=\\*[\"']{_NAME}\\*[\"']\s+value={_ATTRIBUTE}",
              looks_like_credential),
    TokenRule("password", "password",
              rf"(?i)\bdefine\(\s*[\"']{_STRONG_NAME}[\"']\s*,\s*{STRING}", is_real),
    TokenRule("secret", "secret",
              rf"(?i)\bdefine\(\s*[\"']{_NAME}[\"']\s*,\s*{STRING}",
              looks_like_credential),
    TokenRule("secret", "secret", rf"(?:^|[\s\"'])(?:ENV|ARG)\s+(?i:{_NAME})\s+([^\s]+)",
              has_letters_and_digits),
    TokenRule("password", "password",
              rf"(?i){_NAME}&(?:quot|apos|#34|#39);\s*[:=]\s*&(?:quot|apos|#34|#39);([^&<\s]+)",
              is_real),
    TokenRule("password", "password", r"(?i)\b(?:pwd|password)=\{([^}\s]+)\}", is_real),
    TokenRule("password", "password", r"(?i)\bpassword(?:\s*=\s*N|\(\s*)'([^']+)'", is_real),
    TokenRule("password", "password",
              r"(?:IDENTIFIED(?:\s+WITH\s+\S+)?\s+BY|(?i:(?:create|alter)\s+user|grant)\b.*"
              r"\b(?i:identified\s+by))\s+\\*\"([^\"\\]+)", is_real),
    TokenRule("password", "password",
              rf"(?i)\bset\s+password(?:\s+for\s+\S+)?\s*=\s*(?:password\()?{STRING}", is_real),
    TokenRule("password", "password",
              r"(?i)\bidentified(?:\s+with\s+\S+)?\s+by\s+\\*\"?([^\s'\";\\]+)",
              has_letters_and_digits),
    TokenRule("password", "password",
              r"(?i)\b(?:passw(?:or)?[dt]|passphrase|pass|pwd?)\s+(?:is|was|lautet|ist|set\s+to)\b"
              r"\s*:?\s*" + SAID_WORD,
              has_letters_and_digits),
    TokenRule("secret", "signature", r"(?i)\bsignature=([0-9a-f]{32,})"),
    TokenRule("vendor_token", "password_hash",
              r"grub\.pbkdf2\.sha512\.[0-9]+\.([0-9A-Fa-f.]{20,})"),
    TokenRule("vendor_token", "password_hash",
              r"(?i)password_(?:double_)?sha(?:1|256)(?:_hex)?\\*[\"']?\s*[>:=]\s*\\*[\"']?"
              r"([0-9a-f]{40,})"),
    TokenRule("vendor_token", "password_hash",
              r"\{S?SHA(?:256|512)?\}([A-Za-z0-9+/=]{20,})|pbkdf2_sha[0-9]+\$[0-9]+\$([^\s\"']{20,})"),
    TokenRule("password", "password",
              rf"(?i)(?:name|key)=\\*[\"']{_STRONG_NAME}\\*[\"'][^<>]*>([^<\s][^<]*)</", is_real),
    TokenRule("secret", "secret",
              rf"(?i)(?:name|key)=\\*[\"']{_NAME}\\*[\"'][^<>]*>([^<\s][^<]*)</",
              looks_like_credential),
    TokenRule("password", "password",
              rf"(?i)&lt;(?:{_STRONG_NAME}|[a-z0-9_.:\-]*(?:token|secret))&gt;([^&<\s]+)&lt;/",
              is_real),
    TokenRule("password", "password",
              rf"(?i)\{{\s*(?:name|key):\s*[\"']?{_STRONG_NAME}[\"']?\s*,\s*value:\s*[\"']?"
              r"([^\s\"',}]+)", is_real),
    TokenRule("secret", "secret",
              rf"(?i)\{{\s*(?:name|key):\s*[\"']?{_NAME}[\"']?\s*,\s*value:\s*[\"']?"
              r"([^\s\"',}]+)", looks_like_credential),
    TokenRule("secret", "secret", r"<master>\{([^}<]+)\}</master>"),
    # A wrapper of the language around the value, a keyword before it.
    TokenRule("password", "password",
              rf"(?i){_STRONG_NAME}\\*\"?\s*(?:=>|[:=])\s*{_WRAPPER}([^\"'\\]+)",
              is_real),
    TokenRule("secret", "secret",
              rf"(?i){_NAME}\\*\"?\s*(?:=>|[:=])\s*{_WRAPPER}([^\"'\\]+)",
              looks_like_credential),
    TokenRule("password", "password", rf"(?i)(?:^|[\s{{(]):{_STRONG_NAME}\s+\\*\"([^\"\\]+)",
              is_real),
    TokenRule("secret", "secret",
              rf"(?i)\bsetvariable\s+variable={_NAME}[^\]\s]*\]([^\s]+)", is_real),
    TokenRule("password", "password", r"(?i)\b[a-z]*(?:password|pwd)::\s*([A-Za-z0-9+/=]{4,})",
              is_real),
    # Settings without a sign between name and value.
    TokenRule("password", "password",
              r"(?i)(?:(?:^\s*auth[_-]pass|\bbindpw|\br[ow]community6?|trapcommunity|rootpw)\b|"
              r"stats\s+auth\s+[^\s:]+:)\s*" + WORD, is_real),
    TokenRule("secret", "secret", r"\bsecret\s+\\*\"([A-Za-z0-9+/=]{16,})\\*\"",
              looks_like_credential),
    TokenRule("secret", "secret", r"(?:^|[\s:])(?:PSK|EAP|XAUTH)\s+\\*\"([^\"\\]+)"),
    TokenRule("secret", "secret",
              r"(?i)\b(?:tacacs|radius)[a-z\-]*(?:\s+\S+){0,6}\s+key\s+(?:[0-9]\s+)?([^\s]+)",
              has_letters_and_digits),
    TokenRule("secret", "secret",
              r"(?:^|\s)[A-Za-z0-9@._\-]+[ \t]+\*[ \t]+[\"']?([^\s\"'*]{6,})[\"']?[ \t]+"
              r"(?:\*|[0-9]{1,3}\.[0-9.]+)", has_letters_and_digits),
    TokenRule("secret", "secret", 
              r"(?i)\bencrypt\\*\"?\s*[:=]\s*\\*\"([A-Za-z0-9+/]{22,44}={0,2})\\*\"",
              looks_like_credential),
    TokenRule("secret", "secret",
              rf"(?i)\bsecret[_ \-]?id\\*[\"']?\s*[:=]?\s*\\*[\"']?({_UUID})\b"),
    TokenRule("token", "token",
              rf"(?i)\b(?:initial_management|agent(?:_master|_recovery)?)\\*\"?\s*[:=]\s*\\*\"({_UUID})"),
    # Columns: a name, blanks and a value that ends the line.
    TokenRule("password", "password",
              rf"(?i)(?:^|[\s:]){_STRONG_NAME}(?:\t| {{2,}})[ \t]*([^\s]{{6,}})[ \t\r]*$",
              is_in_column, hint=rf"(?i){_STRONG_NAME}(?:\t| {{2,}})[ \t]*[^\s]{{6}}"),
    TokenRule("secret", "secret",
              rf"(?i)(?:^|[\s:]){_NAME}(?:\t| {{2,}})[ \t]*([^\s]{{12,}})[ \t\r]*$",
              is_in_column, hint=rf"(?i){_NAME}(?:\t| {{2,}})[ \t]*[^\s]{{12}}"),
    TokenRule("password", "password",
              r"^\s*\[?[A-Za-z0-9\-]+\.[A-Za-z0-9.\-]+\]?(?::[0-9]+)?\s+[^\s@]+@[^\s:@]+:([^\s:/]+)\s*$",
              has_letters_and_digits, hint=r"\s[^\s@]+@[^\s:@]+:[^\s:/]{8}"),
    # What is stored in the place of a password.
    TokenRule("vendor_token", "password_hash",
              r"[^\s:]:[0-9]+:[0-9A-Fa-fX*]{32}:([0-9A-Fa-f]{32}):"),
    TokenRule("vendor_token", "password_hash", r"[\"']md5([0-9a-f]{32})\\*[\"']"),
    TokenRule("vendor_token", "password_hash",
              r"SCRAM-SHA-(?:1|256|512)\$[0-9]+:([A-Za-z0-9+/=]+\$[A-Za-z0-9+/=:]+)"),
    TokenRule("vendor_token", "password_hash", r"-pbkdf2(?::[a-z0-9]+)?-([0-9a-f,]{40,})"),
    # Dialogues.
    TokenRule("password", "password",
              r"(?i)\"auth\\*\"(?:\s+\\*\"[^\"]*\")?\s+\\*\"([^\"\\]+)\\*\"", is_real),
    TokenRule("password", "password", r"\"PASS ([^\s\"\\]+)\\+r",
              hint=r"\"PASS [^\s\"\\]+\\"),
    TokenRule("password", "password",
              r"(?:^|(?:^|[\s:>])[A-Za-z]{0,4}[0-9]{1,6}\s+)"
              r"LOGIN\s+\S+\s+[\"']?([^\s\"'\\]+)",
              has_letters_and_digits, hint=r"\bLOGIN\s+\S+\s+\S"),
    TokenRule("password", "password", r"\bsend\s+(?:--\s+)?\\*\"([^\"\\]+)\\+r\\*\"",
              has_letters_and_digits, hint=r"\bsend\s+(?:--\s+)?\\*\"[^\"\\]+\\"),
    TokenRule("password", "password",
              r"\.auth\(\s*[\"'][^\"']*[\"']\s*,\s*[\"']([^\"']+)", is_real),
    # A row that `psql -x` prints.
    TokenRule("password", "password", rf"(?i)^{_STRONG_NAME}\s+\|\s([^|\s]+)\s*$", is_in_column,
              hint=rf"(?i){_STRONG_NAME}\s+\|\s[^|\s]"),
    TokenRule("secret", "secret", rf"(?i)^{_NAME}\s+\|\s([^|\s]+)\s*$", looks_like_credential,
              hint=rf"(?i){_NAME}\s+\|\s[^|\s]{{8}}"),
    # What Elasticsearch makes of an API key and its id.
    TokenRule("api_key", "api_key", r"\"encoded\\*\"\s*:\s*\\*\"([A-Za-z0-9+/]{40,}={0,2})",
              looks_like_credential),
    # A name, and its value behind dots or a word.
    TokenRule("password", "password",
              rf"(?i)(?:{STRONG_ENDINGS})\.{{4,80}}\s{{0,4}}([^\s.][^\s]{{1,80}})", is_real),
    TokenRule("password", "password",
              rf"(?i){_STRONG_NAME}[\"']?,\s+value\s*[:=]\s*[\"']?([^\s\"',]+)", is_real),
    # An element whose name says whose secret it is.
    TokenRule("secret", "secret",
              r"(?i)<[a-z0-9_.:\-]*[a-z0-9][_.\-]?(?:secret|token|key)>([^<\s]{4,80})</",
              is_word_of_secret),
    TokenRule("secret", "secret", SPOKEN_NAME, check_named=is_spoken_secret, hint=MAY_BE_SPOKEN),
    TokenRule("password", "password", rf"(?i)<{_STRONG_NAME}>\s*<value>([^<]+)</value>", is_real),
    TokenRule("password", "password", r"^\$USER[0-9]+\$=([^\s/$][^\s]*)", _is_password_in_macro,
              hint=r"\$USER[0-9]+\$=[^\s/$]"),
    TokenRule("password", "password",
              r"\bneighbor\s+\S+\s+password\s+(?:[0-9]\s+)?" + ARGUMENT, is_real),
    TokenRule("password", "password",
              r"^\s*\[[A-Za-z0-9.\-]+\](?::[0-9a-z]+)?\s+[^\s:@]+(?:@[^\s:@]+)?:([^\s]+)\s*$",
              is_real, hint=r"\[[A-Za-z0-9.\-]+\](?::[0-9a-z]+)?\s+[^\s:@]+(?:@[^\s:@]+)?:[^\s]"),
    # The name and the password in one word, as SASL has them.
    TokenRule("password", "password",
              r"(?i)\bauth(?:enticate)?\s+(?:[0-9]+\s+)?plain\b(?:\s+[a-z\-]+=\S+)*?"
              r"(?:\s+resp=|\s+)([A-Za-z0-9+/]{8,}={0,2})(?:\s|$)",
              looks_like_credential, hint=r"(?i)\bauth(?:enticate)?\s+(?:[0-9]+\s+)?plain\b"),
    # Plain words.
    TokenRule("password", "password",
              r"(?i)\bpassw(?:or)?d\s+(?:is\s+generated\s+)?(?:for|of)\s+[^:=\n]{1,80}[:=]\s*([^\s\"']+)",
              has_letters_and_digits),
    TokenRule("password", "password", r"(?i)\bpassword\s+[a-z_][a-z0-9_\-]*\s*=\s*([^\s\"']+)",
              has_letters_and_digits),
    TokenRule("password", "password",
              r"(?i)(?:\bcontrase.a|\bmot\s+de\s+passe(?:\s+est)?|\bkennwort|\bsenha|\bwachtwoord|\bhas.o|"
              r"\bheslo|\blozinka|\bparola)\s*[:=]\s*" + WORD, has_letters_and_digits),
    TokenRule("token", "token",
              r"(?i)\b(?:(?:api|access|secret|auth)[ _\-]?key|"
              r"token|credentials?)\s+(?:is\s+|was\s+)?"
              r"[\"'`(]?([A-Za-z0-9_\-]{20,})", _is_one_random_piece),
    TokenRule("password", "password",
              r"(?i)\b(?:password|passphrase|passwd)\s+from\s+[\"'`]?([^\s\"'`]+)[\"'`]?\s+to\s",
              has_letters_and_digits),
    TokenRule("password", "password",
              r"(?i)\b(?:password|passphrase|passwd)\s+from\s+[^\s]+\s+to\s+" + SAID_WORD,
              has_letters_and_digits),
    TokenRule("password", "password",
              r"(?i)\b(?:with|and|using)\s+(?:the\s+)?(?:password|passphrase|passwd)\s+"
              + SAID_WORD,
              has_letters_and_digits),
    TokenRule("password", "password",
              r"(?i)\bpass[_\-]?phrase\\*[\"']?\s*[:=]\s*([a-z]+(?:[ \-][a-z]+){3,11})"
              r"(?:\s*$|\s+#|\\)",
              is_made_of_words, hint=r"(?i)\bpass[_\-]?phrase\\*[\"']?\s*[:=]\s*[a-z]+[ \-][a-z]"),
    TokenRule("password", "password",
              r"(?i)\[(?:root|admin|administrator|user|sa|guest|service|oper(?:ator)?)/([^\]\s/]{6,})\]",
              has_letters_and_digits),
    TokenRule("password", "password",
              r"(?i)\b(?:credentials?|creds|login)(?:\s+(?:for|of|to|on)\s+[\w.\-]+)?\s*[:=]\s*"
              r"[a-z0-9_.@\-]+\s+/\s+" + WORD,
              has_letters_and_digits),
    # A string with a prefix, as Python and C# have them.
    TokenRule("password", "password",
              rf"(?i){_STRONG_NAME}\\*[\"']?\s*[:=]\s*(?:[ubrfl]|@|\$)\\*[\"']"
              r"([^\"'\\]+)", is_real),
    # A pair of two strings.
    TokenRule("secret", "secret",
              rf"(?i)[(\[]b?[\"']{_NAME}[\"'],\s*b?[\"']([^\"'\\]+)[\"']\s*[)\]]",
              looks_like_credential),
    # Declared with a type, or as Lisp has it.
    TokenRule("password", "password",
              rf"(?i){_STRONG_NAME}{_TYPE}=\s*\\*[\"']([^\"'\\]+)", is_real),
    TokenRule("secret", "secret",
              rf"(?i){_NAME}{_TYPE}=\s*\\*[\"']([^\"'\\]+)", looks_like_credential),
    TokenRule("password", "password", rf"(?i)[\s(]{_STRONG_NAME}\s+\\*\"([^\"\\\s]+)\\*\"",
              has_letters_and_digits),
    # A row of a table.
    TokenRule("password", "password",
              rf"(?i)\|\s+[`*]*{_STRONG_NAME}[`*]*\s*\|\s+`?([^|\s`]+)`?\s+\|", is_in_column),
    TokenRule("secret", "secret",
              rf"(?i)\|\s+[`*]*{_NAME}[`*]*\s*\|\s+`?([^|\s`]{{12,}})`?\s+\|",
              looks_like_credential),
    TokenRule("password", "password", r"(?i)\buser\s+\S+\s+using\s+[\"']?([^\s\"';]+)",
              has_letters_and_digits),
    TokenRule("password", "password", r"(?i)\bftp>\s*user\s+\S+\s+([^\s]+)", is_real),
    TokenRule("password", "password", r"\bset\s+[A-Z_]*(?:PASS|PASSWORD|PWD)\s+([^\s]+)", is_real),
)  # fmt: skip
