"""Which names announce a secret, and which values are none whatever their name says."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Strength = Literal["strong", "medium", "weak"]


@dataclass(frozen=True)
class SecretName:
    """What a name announces. Strong: any real value is secret; medium: one that looks like a
    credential; weak: only one that looks random."""

    kind: str
    strength: Strength


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_TRAILING = _words(
    "value val data b64 base64 enc encoded plain plaintext text raw string old new current "
    "base b hex previous prod production staging dev test main primary backup default pem"
)
STRONG_ENDINGS = "authtok|pass(?:word|wd|wort|[_-]?phrase|code)?|pwd|psw|pw"
NAME_ENDINGS = (
    rf"password_?hash|{STRONG_ENDINGS}|token|jwt|bearer|pat|secret|credentials?|creds?|auth|authorization"
    r"|sig(?:nature)?|access[_-]?key[_-]?id|key|psk|sess(?:ion)?id|salt"
)
"""How the names that `classify_name` knows end, as an alternation for a pattern."""
NAME_TRAILERS = "|".join(sorted(_TRAILING, key=lambda word: (-len(word), word)))
"""What may follow such an ending."""
_PASSWORD_WORDS = _words(
    "authtok requirepass masterauth psk password passwd passwort passphrase passcode pwd psw pw "
    "pass"
)
_PASSWORD_ENDINGS = ("password", "passwd", "passphrase", "passwort")
_NO_PASSWORDS = _words("bypass compass overpass underpass trespass encompass surpass")
_TOKEN_WORDS = _words("token jwt bearer pat authorization sessionid phpsessid jsessionid")
_SECRET_WORDS = _words("secret credential credentials creds cred")
_KEY_KINDS = {
    "private": "private_key", "client": "private_key", "ssh": "private_key", "tls": "private_key",
    "deploy": "private_key", "signing": "private_key", "secret": "secret_key", "api": "api_key",
    "access": "secret_key", "app": "api_key", "application": "api_key", "account": "secret_key",
    "routing": "api_key", "integration": "api_key", "service": "api_key", "license": "api_key",
    "encryption": "secret_key", "master": "secret_key", "auth": "api_key", "storage": "secret_key",
    "session": "secret_key", "consumer": "api_key", "unseal": "secret_key", "seal": "secret_key",
    "validation": "secret_key", "decryption": "secret_key", "certificate": "secret_key",
    "hmac": "secret_key", "crypt": "secret_key", "subscription": "api_key", "write": "api_key",
    "admin": "api_key", "preshared": "secret_key", "shared": "secret_key", "psk": "secret_key",
    "root": "secret_key",
}  # fmt: skip
_SALTED = _words("auth in nonce password secret session cookie token")
"""What the salt of is kept secret, as WordPress has them."""
_OF_OTHER_THINGS = _words("checksum hash")
_JOINED_KEYS = ("apikey", "secretkey", "accesskey", "privatekey", "accountkey", "authkey", "appkey")
_HARMLESS_KEY_FIRST = _words(
    "partition sort foreign cache row group public unique idempotency dedup sorting "
    "object s3 index column field map hash lookup config metric label storage_class band "
    "translation message i18n host known authorized ssh_public fingerprint"
)


_DESCRIBING = _words(
    "id ids name hash digest fingerprint arn uid version kid checksum path url uri revision sha "
    "created updated type ref image algorithm alg kind namespace host"
)
"""Ends of names that say something about a secret."""


_ENDING = re.compile(NAME_ENDINGS, re.IGNORECASE)


def may_announce(name: str) -> bool:
    """Whether it is worth while to classify a name: quick, and right about those that it denies."""
    return _ENDING.search(name) is not None


def singular(name: str) -> str:
    """`passwords` as `password`: what each item of such a list is."""
    is_plural = name.lower().endswith("s") and not name.lower().endswith("ss")
    return name[:-1] if is_plural else name


@lru_cache(maxsize=8192)
def is_named_by_group(group: str, name: str) -> bool:
    """Whether `{"api-keys": {"prod": ...}}` means an API key by `prod`."""
    one = singular(group)
    if one == group or classify_name(one) is None:
        return False
    words = _WORDS.findall(name)
    return not words or words[-1].lower() not in _DESCRIBING


@lru_cache(maxsize=8192)
def classify_name(name: str) -> SecretName | None:
    """What a key, variable, option or header name says about its value."""
    words = _meaning_words(name)
    if words[-2:] == ["password", "hash"]:
        return SecretName("password", "medium")
    if words[-2:] == ["hash", "salt"]:
        return SecretName("secret", "medium")
    if not words or not _OF_OTHER_THINGS.isdisjoint(words) or words[-3:-1] == ["web", "socket"]:
        return None
    if words[-1] == "keys" and len(words) > 1:
        words[-1] = "key"
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _PASSWORD_WORDS or last.endswith(_PASSWORD_ENDINGS):
        return SecretName("password", "strong")
    if last.endswith(("pass", "pwd")) and last not in _NO_PASSWORDS:
        return SecretName("password", "strong")
    if last in _TOKEN_WORDS or last.endswith("token"):
        return SecretName("token", "medium")
    if last in _SECRET_WORDS or last.endswith("secret"):
        return SecretName("secret", "medium")
    return _classify_pair(last, before, words) or _classify_key(last, before, words)


def _meaning_words(name: str) -> list[str]:
    """The words of a name without what is only appended to it."""
    words = [word.lower() for word in _WORDS.findall(name[-120:])]
    while len(words) > 1 and (words[-1] in _TRAILING or words[-1].isdigit()):
        words.pop()
    return words


def _classify_pair(last: str, before: str, words: list[str]) -> SecretName | None:
    """By a last word that says little without those before it."""
    if last == "id" and before == "secret":
        return SecretName("secret", "medium")
    if last == "phrase" and before == "pass":
        return SecretName("password", "strong")
    if last == "id" and words[-3:-1] == ["access", "key"]:
        return SecretName("aws_access_key", "medium")
    if last == "salt" and before in _SALTED:
        return SecretName("secret", "medium")
    if last == "auth":
        return SecretName("token", "medium")
    if last in ("sig", "signature") and len(words) <= 3:
        return SecretName("signature", "weak" if last == "signature" and not before else "medium")
    return None


def _classify_key(last: str, before: str, words: list[str]) -> SecretName | None:
    if last.endswith(_JOINED_KEYS):
        joined = next(end for end in _JOINED_KEYS if last.endswith(end))
        return SecretName(_KEY_KINDS[joined.removesuffix("key")], "medium")
    if last != "key":
        return None
    if "public" in words:
        return None
    if before in _KEY_KINDS:
        kind = "aws_secret_key" if words[-3:-1] == ["secret", "access"] else _KEY_KINDS[before]
        return SecretName(kind, "medium")
    if before in _HARMLESS_KEY_FIRST:
        return None
    return SecretName("api_key", "weak")


_PROSE = _words(
    "null none nil true false yes no on off n/a na undefined required optional missing invalid "
    "expired incorrect wrong failed failure error denied redacted masked hidden unset unknown "
    "empty string str bytes int password token secret key default disabled enabled authentication "
    "authorization policy strong weak ok found not the is was for and with reset change changed "
    "mismatch rejected accepted via permission sensitive omitted removed filtered provided stdin "
    "file files stdin vault bool boolean object array list dict any number text bearer "
    "env x-oauth-basic aws4-hmac-sha256 "
    "passwort kennwort contraseña senha parola wachtwoord hasło"
)
_REFERENCE = re.compile(
    # In brackets: words, a template, an object or a list of its own.
    r"<(?:%|[A-Za-z][\w .:/'\"|-]*>?[.,;]?$)|\((?:[A-Za-z][\w ,.'\"-]*\)?)?[.,;]?$|"
    r"\{(?:[\\\{}\"'% ]|$|[A-Za-z_$.#][\w.:-]*\}?$|[\w.-]+: )|"
    r"\[(?:MASKED:|[\[\]\"'{ ]|$|[A-Za-z][\w .:'\"#*,-]*\]?$|[0-9]+[,\]])|"
    r"(?:<.*>|\(.*\)|\{.*\}|\[.*\])[.,;]?$|"
    r"\$[({]|\$[A-Za-z_]\w*$|%(?:[A-Za-z_]+%|[sdvqr])?$|%[({<]|"
    r"(?:vault|op|ref\+\w+|secret|env|file|ssm|sops|arn|awssm|gcpsm|keyvault):|ENC\[|"
    r"(?:os\.|process\.|System\.|self\.|settings\.|config\.|getenv|environ|var\.|local\.|data\.|"
    r"module\.|req\.|request\.|user\.|args\.|opts\.|options\.|params\.|cfg\.|ctx\.|this\.)|"
    # A chain of names: `random_password.db.result`, `.data.password`.
    r"(?=[a-z.]{0,100}_|.{0,200}\.(?:\w*(?:pass|password|token|secret|key|value|result|id|arn))$)"
    r"(?:[a-z_][a-z0-9_]{0,30}\.){2,}[a-z_][A-Za-z0-9_]{0,30}$|\.(?:[a-z]\w*\.)+\w+$"
)
_DIGEST = re.compile(
    r"(?:hmac-)?(?:sha[0-9]{1,3}|md5|blake2b)[:-][0-9a-fA-F]{16,}$|"
    r"sha(?:256|384|512)-[A-Za-z0-9+/]{40,}={0,2}$"
)
_CUT_CALL = re.compile(r"""["']|[,(=]$|\(\w+=""")
_NAME_IN_CODE = re.compile(r"(?:[a-z_]{3,}|[A-Z][a-z]{2,})(?:[A-Z][a-z]+)*$")
_AFTER_CALL = re.compile(r"\)\w+$")
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
_SENTENCE = re.compile(
    r"\b(?:an?|be|been|but|by|can|from|has|have|here|if|in|into|it|may|must|of|or|please|see"
    r"|should|that|this|to|under|we|were|when|will|your?)\b"
)
_PATH = re.compile(
    r"(?:~|\.{1,2})?(?:/[a-z0-9._@-]+)+/?$|"
    r"/(?:app|data|dev|etc|home|mnt|opt|proc|root|run|secrets|srv|sys|tmp|usr|var)/"
)
_CALL = re.compile(r"[A-Za-z_][\w.]*\((?!\()[\w\s.,'\"=:()\[\]{}*&$/\\+>-]*$")
_FILLER = re.compile(r"[*xX•.#_\-\s…]+$")
_RESOURCE_NAME = re.compile(r"[a-z]+[a-z0-9]*(?:-[a-z0-9]{1,10})+$")
MAX_PASSWORD = 40
# What a SealedSecret holds is encrypted for its cluster.
_SEALED = re.compile(r"Ag[A-D][A-Za-z0-9+/]{25,}={0,2}$")
_SCOPE = re.compile(r"[A-Za-z0-9.@%_\-\[\]:#]{3,128}(?:/|%2F)[0-9]{8}(?:/|%2F)")
_SECRET_ID = re.compile(r"secret[_. -]?id$", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$", re.IGNORECASE)


def is_secret_value(name: SecretName, value: str, key: str = "") -> bool:
    """Whether this value, standing under this name, has to go."""
    value = value.strip()
    if is_harmless(value) or _SEALED.match(value) or is_foreign_word(value):
        return False
    if name.strength == "strong":
        # `pass=12 fail=0` counts tests, `pwd=/app` is a directory.
        if key.lower() in ("pass", "pw"):
            return len(value) >= 6 and not value.isdigit()
        return len(value) >= 3
    if _SECRET_ID.search(key) and not is_uuid(value):
        return False  # Of a secret in a store; what Vault and Consul hand out are UUIDs.
    if key.lower().endswith("credential") and _SCOPE.match(value):
        return False  # Of a signed request; the id in it goes by its own form.
    if key.lower() == "secret" and _RESOURCE_NAME.match(value):
        return False
    if name.strength == "medium":
        return (
            looks_like_credential(value)
            or looks_like_password(value)
            or may_be_made_of_words(key, value)
        )
    return looks_random(value)


def may_be_made_of_words(key: str, value: str) -> bool:
    """Whether the name says whose secret it is, so that a value like any word is one, too.

    What names a secret that lies elsewhere, a setting of it or its state is none.
    """
    words = _meaning_words(key)
    joined = next((end for end in _WORD_ENDS if words and words[-1].endswith(end)), "")
    owner = words[-1].removesuffix(joined) or (words[-2] if len(words) > 1 else "")
    return bool(joined and owner) and owner not in _ELSEWHERE and is_word_of_secret(value)


def is_word_of_secret(value: str) -> bool:
    """A word that a secret could be, but no state, duration or name of a secret."""
    value = value.rstrip(",;")
    if is_harmless(value) or not _WORDLIKE.match(value):
        return False
    if _STATE.match(value) or _NAMED_ELSEWHERE.search(value):
        return False
    return classify_name(value) is None or _is_one_mixed_word(value)


def _is_one_mixed_word(value: str) -> bool:
    """Digits all over letters of both cases: what it happens to end with names nothing."""
    return (
        value.isalnum()
        and len(_DIGIT.findall(value)) >= 3
        and bool(_UPPER.search(value) and _LOWER.search(value) and _DIGIT_WITHIN.search(value))
    )


_WORD_ENDS = ("secret", "token", "key", "credential", "credentials")
_ELSEWHERE = _words(
    "existing external pull image tls ssl ca cert certificate sealed kubernetes k8s target source "
    "routing the a an this that no next invalid unexpected unknown"
)
_WORDLIKE = re.compile(r"(?=.*[A-Za-z])(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._~+/=@!#%^&*-]{3,79}$")
# A duration, a size, what somebody did, or what is to be filled in: `30d`, `rotated`, `your-key`.
_STATE = re.compile(r"[0-9]+[A-Za-z]{1,3}$|[a-z]+ed$|(?i:your[-_]|.*[-_]here$|insert[-_])")
_NAMED_ELSEWHERE = re.compile(r"(?i)[-_./](?:secrets?|creds?|credentials?|tokens?|keys?|auth|tls)$")


def is_harmless(value: str) -> bool:
    """Empty, a placeholder, a reference, a path or a word of prose."""
    if not value or _FILLER.match(value):
        return True
    if value.lower().strip(".,;:!*<>[](){}_-") in _PROSE:
        return True
    if "://" in value or _REFERENCE.match(value) or _DIGEST.match(value) or _is_call(value):
        return True
    return bool(_PATH.match(value))


def _is_call(value: str) -> bool:
    """Code, whole or cut off behind an argument: no bracket closes that was not opened."""
    if not _CALL.match(value):
        return False
    open_brackets = [value.count(opening) - value.count(closing) for opening, closing in _BRACKETS]
    if min(open_brackets) < 0 or _AFTER_CALL.search(value):
        return False
    name, _, argument = value.partition("(")
    return (
        max(open_brackets) == 0
        or _CUT_CALL.search(value) is not None
        or (argument.isidentifier() and all(map(_NAME_IN_CODE.match, name.split("."))))
    )


def is_made_of_words(value: str) -> bool:
    """Words of which none is a placeholder or holds a sentence together."""
    words = value.lower().replace("-", " ").split()
    return not _SENTENCE.search(value.lower()) and not any(map(is_harmless, words))


def is_foreign_word(value: str) -> bool:
    """A word in a script that passwords are hardly ever typed in."""
    return value.isalpha() and min(value) > "\u0370"


def looks_like_password(value: str) -> bool:
    """A digit amid letters of both cases, and a mark: no name is written so."""
    if not 7 <= len(value) <= MAX_PASSWORD or _BLANK.search(value):
        return False
    if _SECRET_PREFIX.match(value):
        return True
    bare = _NUMERONYM.sub("", value)
    return len(value) >= 10 and bool(
        _DIGIT_WITHIN.search(bare)
        and _MARK.search(bare)
        and _UPPER.search(bare)
        and _LOWER.search(bare)
    )


def is_uuid(value: str) -> bool:
    return _UUID.match(value) is not None


def looks_like_credential(value: str) -> bool:
    """Letters mixed with digits or with case in one piece; names made of words are none."""
    if len(value) < 8 or _BLANK.search(value):
        return False
    if is_uuid(value):
        return True
    if any(map(_is_mixed, _PIECE.findall(value))) or _is_mixed_as_a_whole(value):
        return True
    return bool(_RARE_MARK.search(value)) and any(map(str.isdigit, value))


def looks_random(value: str) -> bool:
    """Long, and of several kinds of characters in one piece."""
    if len(value) < 20 or _BLANK.search(value):
        return False
    return any(
        _DIGIT.search(piece) and _UPPER.search(piece) and not piece.isupper()
        for piece in _LONG_PIECE.findall(value)
    )


# Hostile text makes these judge megabytes: no loop of Python's own over characters here.
_BLANK = re.compile(r"\s")
_PIECE = re.compile(r"[A-Za-z0-9]{6,}")
_LONG_PIECE = re.compile(r"[A-Za-z0-9]{16,}")
_DIGIT = re.compile(r"[0-9]")
_UPPER = re.compile(r"[A-Z]")
_LOWER = re.compile(r"[a-z]")
_CAMEL = re.compile(r"(?:[a-z]{3,}|[A-Z]{2,4})?(?:[A-Z][a-z]{2,})+$")
"""Words of a program's name, written in one."""
_MARK = re.compile(r"[!@#%&+_.\-]")
_DIGIT_WITHIN = re.compile(r"[A-Za-z][0-9]+[A-Za-z]")
_SECRET_PREFIX = re.compile(r"sk-(?=[A-Za-z_\-]*[0-9])")
_NUMERONYM = re.compile(r"(?i)k8s|i18n|l10n|oauth2|s3|ec2|x509|base64|sha[0-9]+|md5|h2c|v[0-9]+")
_RARE_MARK = re.compile(r"[!$^*~]")


def _is_mixed_as_a_whole(value: str) -> bool:
    return (
        len(value) >= 20
        and any(map(str.isdigit, value))
        and sum(map(str.isupper, value)) >= 4
        and sum(map(str.islower, value)) >= 4
    )


def _is_mixed(piece: str) -> bool:
    """About six or more ASCII letters and digits."""
    if piece.isdigit():
        return len(piece) >= 16
    if not piece.isalpha():
        return len(piece) >= 8 or len(_DIGIT.findall(piece)) >= 2
    if len(piece) < 16 or _CAMEL.match(piece):
        return False
    return len(piece) >= 20 or 3 <= len(_UPPER.findall(piece)) <= len(piece) - 3
