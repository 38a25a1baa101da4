"""Masks text that comes in pieces: what it shows is the same however the pieces are cut."""

import logging
import re
from collections.abc import Callable

from masking.columns import COLUMN_HEAD
from masking.foreign_words import in_latin
from masking.secret_names import NAME_ENDINGS
from masking.sql_rows import heads_rows
from masking.values_below import prints_secret

logger = logging.getLogger(__name__)

# A word of these may announce a secret later in its line, so the line is shown when it is whole.
_LINE_CUE = re.compile(
    rf"(?i){NAME_ENDINGS}|basic|digest|cookie|session|\bsid|csrf|xsrf|remember|webhook|hooks\."
    r"|curl|redis|valkey|mysql|maria|docker|podman|helm|nerdctl|crane|skopeo|login|ldap|unseal"
    r"|identified|rabbitmq|htpasswd|\baz\b|\bhttps?\b|\becho\b|\bENV\b|\bARG\b|://|\\|%|psql|mongo|wget|snmp|smb|zip|ftp|ipmi|mosquitto|net\b|\bmc\b"
    r"|sqlplus|sqlldr|\b(?:exp|imp)(?:dp)?\b|\brman\b|oracle|setuser|\buser\b|\bset|config|\bkv\b"
    r"|community|tacacs|radius|\b(?:PSK|EAP|XAUTH)\b|contrase|\bmot\b|kennwort|senha"
    r"|wachtwoord|has.o\b|heslo|lozinka|parola|\bapi\b|\baccess\b|openssl|operator|rclone"
    r"|cryptsetup|kinit|\bgpg\b|sudo|realm|adcli|snyk|bundle|composer|freerdp|winexe|wmic|isql"
    r"|\bbcp\b|tsql|stats|\bsend\b|faas|psexec|influx|twine|rpc|bindpw|rootpw|-pbkdf2|SCRAM"
    r"|\bprintf\b|addprinc|principal|\bcpw\b|plink|pscp|psftp|\|"
    r"|AKIA|ASIA|\*|[a-z0-9]{6}\.[a-z0-9]{16}|@[^\s:@]+:|[0-9A-FX*]{32}:"
    # The head of rows of a database, and a head of columns in capitals.
    r"|(?-i:\bINTO\b|\bCOPY\b)"
    r"|(?-i:\A[A-Z]{2,}\s\Z)"
    r"|\A[0-9]+\)\s|\bdefine\b|vault|\baws\b|gcloud|doppler|terraform|pwgen|\bwg\b|printenv|\bcat\b|\bop\b"
    r"|signing|encrypt|licen[cs]e|etcdctl|put-|SecureString|grub|\bvariable\b|\boutput\b"
)
# These may begin what takes several lines: it is shown when it ends.
_BLOCK_CUE = re.compile(
    r"```|~~~|----|\b334\b|\bUSER\b|\bAUTH\b|view-secret|<(?:name|key)>|\bkubectl\b|\boc\b|Private-Lines|\bkind\b|\bdata\b|stringData|apiVersion|[{\[]"
    r"|\b[Nn]ame\b[\"']?:|\b[Vv]alue\b[\"']?:|\bkey\b[\"']?:|\bParameter(?:Key|Value)\b|\bencoded\b|\bsecrets?\b|[A-Za-z0-9+/_\-]{60}"
)
# Too short and too plain to be a secret by itself.
_PLAIN = re.compile(r"[A-Za-z]{0,15}[.,;:!?)]?\s")
_BLANK = re.compile(r"\s")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_PEM_EDGE = re.compile(r"----(?:-| )(BEGIN|END) ")
# A name at the end of a line, with its value below.
_OPENS_BLOCK = re.compile(
    r"(?:[^\s\\]\\|[:|>=(][+-]?[0-9]?|<<[-~]?[ \t]*['\"]?\w+['\"]?|name=\"[^\"\n]*\"|"
    rf"\A[\w.\-]*(?i:{NAME_ENDINGS})|[0-9]\)\s+\"[\w.\-]*(?i:{NAME_ENDINGS})\"|"
    r"(?i:passw\w{0,5}|passphrase|token|secret|key)\s?\?|(?i:authorization\S{0,3}\s(?:bearer|basic|token))|\s--?[\w-]+[\"']?)"
    r"[ \t\r]*\n\Z"
)


_IS_TABLE_HEAD = re.compile(COLUMN_HEAD)


def opens_block(line: str) -> bool:
    """Whether what a line announces may stand on the lines below."""
    return (
        any(head.search(line) for head in (_OPENS_BLOCK, _IS_TABLE_HEAD))
        or prints_secret(line)
        or heads_rows(line)
    )


class StreamMasker:
    """Takes pieces of a text and gives back what may be shown of it, masked.

    The text is cut into units by what it says and not by how it came: words where nothing nearby
    hints at a secret, else whole lines or whole blocks (fenced, manifests, keys, JSON). Each unit
    is masked alone. Once masking fails, nothing more is shown.
    """

    def __init__(self, mask: Callable[[str], str]) -> None:
        self._mask = mask
        self._waiting: list[str] = []
        """What is no whole word yet."""
        self._lead: list[str] = []
        """Blanks and list marks: how far the word behind them stands in is part of what it says."""
        self._unit: list[str] = []
        """Words that are held back."""
        self._line: list[str] = []
        """Those of them that stand on its last line."""
        self._is_block = False
        self._is_in_key = False
        self._fences = 0
        self._has_failed = False
        self._has_opened = False
        """Whether the line before opened a block: a blank one behind it does not end it."""

    def add(self, piece: str) -> str:
        """What can be shown now: often less than came, sometimes more."""
        self._waiting.append(piece)
        if not _BLANK.search(piece):
            return ""  # What waits is not read again for every piece of a word that has no end.
        text = "".join(self._waiting)
        shown: list[str] = []
        position = 0
        for blank in _BLANK.finditer(text, len(text) - len(piece)):
            shown.append(self._take(text[position : blank.end()]))
            position = blank.end()
        self._waiting = [text[position:]]
        return "".join(shown)

    def finish(self) -> str:
        """The rest. Nothing may be added after."""
        rest = "".join((*self._lead, *self._unit, *self._waiting))
        self._lead.clear()
        self._unit.clear()
        self._waiting.clear()
        return self._mask_unit(rest) if rest else ""

    def _take(self, word: str) -> str:
        if not self._unit and word.strip() in ("", "-") and not word.endswith("\n"):
            self._lead.append(word)
            return ""
        lead, said = "".join(self._lead), in_latin(word)
        self._lead.clear()
        if not self._unit and not _LINE_CUE.search(said) and not _BLOCK_CUE.search(said):
            return lead + self._mask_unit(word)
        self._unit.append(lead + word)
        self._line.append(lead + word)
        self._is_block = self._is_block or _BLOCK_CUE.search(word) is not None
        return self._end_line() if word.endswith("\n") else ""

    def _end_line(self) -> str:
        """What can be shown now that a line has ended. Each line is read once, however long the
        block: after a closed fence, or a blank line outside fences and keys, a block ends."""
        line = "".join(self._line)
        self._line.clear()
        if edges := _PEM_EDGE.findall(line):
            self._is_in_key = edges[-1] == "BEGIN"
        is_fence = _FENCE.match(line) is not None
        self._fences += is_fence
        has_opened, self._has_opened = self._has_opened, opens_block(line)
        self._is_block = self._is_block or self._has_opened
        if not self._is_block:
            return self._show()
        is_open = self._is_in_key or self._fences % 2 == 1
        is_blank = not line.strip() and not has_opened
        return self._show() if not is_open and (is_fence or is_blank) else ""

    def _show(self) -> str:
        unit = "".join(self._unit)
        self._unit.clear()
        self._is_block = self._is_in_key = False
        self._fences = 0
        return self._mask_unit(unit)

    def _mask_unit(self, unit: str) -> str:
        if self._has_failed:
            return ""
        if _PLAIN.fullmatch(unit):
            return unit
        try:
            return self._mask(unit)
        except Exception:
            logger.exception("masking a stream failed; the rest of it is not shown")
            self._has_failed = True
            return ""
