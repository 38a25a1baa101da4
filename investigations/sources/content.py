"""The body of a post as UTF-8, however its sender has packed it."""

import codecs
import json
import re
import zlib
from urllib.parse import parse_qsl

from tarsy.errors import InvalidInput, PayloadTooLarge

BODY = "body"
POST_LIMIT = 1024 * 1024
"""Bytes of a post once it is unpacked."""
_GZIP = b"\x1f\x8b"
_PACKED = ("gzip", "x-gzip", "deflate")
_FORM = "application/x-www-form-urlencoded"
_FIELD = "payload"
_NAME = re.compile(r"[\w.\[\]-]{1,100}")
_NO_CHARSETS = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
"""What Python reads like charsets and is none; a mebibyte of some takes it half a minute."""


def unpack(raw: bytes, *, encoding: str = "", content_type: str = "", charset: str = "") -> bytes:
    """What stands in a body, as UTF-8: without gzip, in whatever charset, and a form as JSON.

    JSON is read whatever its content type says: SNS sends it as plain text. Raises InvalidInput,
    and PayloadTooLarge for what is larger than 1 MiB, packed or not.
    """
    if len(raw) > POST_LIMIT:
        raise _too_large()
    if encoding.strip().lower() not in ("", "identity", *_PACKED):
        raise InvalidInput(BODY, f"is packed as {encoding[:40]}; gzip and deflate are read")
    if raw[:2] == _GZIP or encoding.strip().lower() in _PACKED:
        raw = _inflate(raw)
    text = _decode(raw, charset)
    if content_type.lower() == _FORM and text.lstrip()[:1] not in ("{", "["):
        text = _read_form(text)
    body = text.encode("utf-8", "surrogatepass")
    if len(body) > POST_LIMIT:
        raise _too_large()
    return body


def _inflate(raw: bytes) -> bytes:
    """Stops at the limit: a few bytes can stand for gigabytes."""
    # gzip or zlib by their heads; some senders say deflate and leave the head out.
    for bits in (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS):
        stream = zlib.decompressobj(bits)
        try:
            body = stream.decompress(raw, POST_LIMIT + 1)
        except zlib.error:
            continue
        if len(body) > POST_LIMIT:
            raise _too_large()
        if not stream.eof:
            raise InvalidInput(BODY, "is compressed and breaks off")
        return body
    raise InvalidInput(BODY, "is said to be compressed and is not")


def _decode(raw: bytes, charset: str) -> str:
    name = charset.strip("\"' ").lower() or "utf-8"
    try:
        codec = codecs.lookup(name)
        if not codec._is_text_encoding or codec.name in _NO_CHARSETS:
            raise LookupError(name)
        return raw.decode("utf-8-sig" if codec.name == "utf-8" else name)
    except UnicodeDecodeError as error:
        raise InvalidInput(BODY, f"is not {name[:40]} at byte {error.start}") from None
    except (LookupError, ValueError):
        raise InvalidInput(BODY, f"is in a charset that nobody knows: {name[:40]}") from None


def _read_form(text: str) -> str:
    """The JSON in a field `payload`, else an object of all fields, each a text."""
    try:
        fields = parse_qsl(text, keep_blank_values=True, strict_parsing=True, max_num_fields=500)
    except ValueError:
        fields = []
    named = dict(fields)
    if not named or len(named) < len(fields) or not all(map(_NAME.fullmatch, named)):
        raise InvalidInput(BODY, "is neither JSON nor a form whose fields have a name each")
    return named.get(_FIELD) or json.dumps(named)


def _too_large() -> PayloadTooLarge:
    return PayloadTooLarge(BODY, f"must not be larger than {POST_LIMIT:,} bytes, unpacked")
