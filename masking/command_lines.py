"""Secrets that are given to programs on their command line."""

import re

from masking.secret_names import (
    NAME_ENDINGS,
    STRONG_ENDINGS,
    looks_like_credential,
)
from masking.token_rule import (
    ARGUMENT,
    SHELL_WORD,
    VALUE,
    TokenRule,
    has_digit,
    has_letters_and_digits,
    is_real,
)

_SET_COMMAND = (
    r"(?i)\b(?:configure\s+set|setx|setenv|set\s+-[a-z]+|config\s+set(?:\s+--?[a-z]+)*|kv\s+put|etcdctl\s+put)"
    r"\s+[a-z0-9_.:/\-]*"
)


# What a text of help has in the place of a value.
_METAVAR = re.compile(r"[A-Z]+(?:_[A-Z]+)*\]?$")
# Of `--secret`: which one of those that the builder keeps.
_MOUNT = re.compile(r"(?:id|src|type)=|[a-z0-9_.\-]+,(?:id|src|type|target)=")


def _is_no_option(value: str) -> bool:
    return is_real(value) and not value.startswith("-") and not _METAVAR.match(value)


def _is_no_drive(value: str) -> bool:
    return is_real(value) and not (len(value) == 2 and value.endswith(":"))


_OPTIONS = (
    TokenRule(
        "command_line", "password",
        r"(?i)(?:^|[\s\"'\[,\x00])--?(?:[a-z0-9\-]*-|store|key|src|dest|sasl|db|user|root|admin|http)?"
        r"(?:password|passwd|passphrase|pass|pwd)(?:=|[\s\x00]+)"
        + VALUE, _is_no_option,
    ),
    TokenRule(
        "token", "token",
        r"(?i)(?:^|[\s\"'\[,\x00])--?(?:[a-z0-9\-]*-)?(?:token|secret|api-?key|(?:access|secret|"
        r"private|auth)-?key|jwt)(?:=|[\s\x00]+)" + VALUE,
        lambda value: _is_no_option(value) and len(value) >= 6 and not _MOUNT.match(value),
    ),
    TokenRule("command_line", "password",
              r"(?i)\bcurl\b.*\s(?:-[a-zA-Z]*[uU]|--(?:proxy-)?user)[ =]?"
              r"(?:\"[^\s:\"]+:([^\"]+)\"|'[^\s:']+:([^']+)'|[\"']?[^\s:\"']+:([^\s\"']+))",
              is_real),
    TokenRule("command_line", "password",
              r"\b(?:redis-cli|valkey-cli)\b.*\s-a\s+" + ARGUMENT, _is_no_option),
    TokenRule("command_line", "password",
              r"\b(?:docker|podman|helm|nerdctl|crane|skopeo|az|oc)\b.*\blogin\b.*\s-p\s*"
              + ARGUMENT, is_real),
    TokenRule("command_line", "password", r"\bsshpass\s+-p\s*" + ARGUMENT, is_real),
    TokenRule("command_line", "password",
              r"\b(?:mysql|mysqldump|mysqladmin|mysqlpump|mariadb(?:-dump|-admin)?|xtrabackup)\b.*\s-p"
              + ARGUMENT, lambda value: is_real(value) and len(value) >= 3),
    TokenRule("command_line", "password", r"\bldap[a-z]+\b.*\s-w\s*" + SHELL_WORD,
              is_real),
    TokenRule("command_line", "password", r"\bpass:([^\s\"']{4,})", looks_like_credential),
)  # fmt: skip

_COMMANDS = tuple(
    TokenRule("command_line", "password", pattern, check)
    for pattern, check in (
        (r"--from-literal[= ][\"']?[A-Za-z0-9_.\-]+=" + ARGUMENT, is_real),
        (r"--from-literal[= ](?:\"[A-Za-z0-9_.\-]+=([^\"]+)\"|'[A-Za-z0-9_.\-]+=([^']+)')",
         is_real),
        (r"\bhttps?\s.*(?:-a|--auth)[ =][\"']?[^\s:\"']+:([^\s\"']+)", is_real),
        (r"(?i)\b(?:requirepass|masterauth|auth-pass\s+\S+)\\*[\"']?\s+" + ARGUMENT, is_real),
        (r"(?:^|[>\"])\s*AUTH\s+(?:[^\s]+\s+)?([^\s\"]+)\s*(?:$|\")", has_digit),
        (r"\b(?:mongo(?:sh|dump|restore|export|import)?|cqlsh|rabbitmqadmin|faas-cli|"
         r"psexec|influx|twine)\b.*\s-p\s*" + ARGUMENT, _is_no_option),
        (r"\b(?:sqlcmd|bcp|tsql|mosquitto_[a-z]+|ipmitool|zip|unzip|zipcloak)\b.*\s-P\s*"
         + SHELL_WORD, is_real),
        (r"\b7za?\b.*\s-p" + ARGUMENT, is_real),
        (r"\b(?:smbclient|rpcclient|net|winexe|wmic)\b.*(?:-U|--user)[ =]?[\"']?[^\s%\"']+%"
         r"([^\s\"']+)",
         is_real),
        (r"\bmc\s+(?:alias|config\s+host)\s+(?:set|add)\s+\S+\s+\S+\s+\S+\s+" + ARGUMENT, is_real),
        (r"\b(?:echo|printf)\s+(?:-[ne]+\s+|[\"']?%s(?:\\n)?[\"']?\s+)?" + SHELL_WORD
         + r"[\"']?\s*\|[^|]*"
         r"(?:-stdin|-token\b|sudo\s+-S|\bsecrets?\s+(?:set|create|add)\b|\bkinit\b|\bcryptsetup\b"
         r"|\b(?:az|oc|gh|glab|docker|podman|helm|npm|vault|argocd|doctl)\s+(?:[a-z\-]+\s+)?login\b)",
         is_real),
        (r"\becho\s+(?:-[ne]+\s+)?[\"']?[^\s:\"']+:([^\s\"']+)[\"']?\s*\|.*\bchpasswd", is_real),
        (r"\bhtpasswd\s+-[a-zA-Z]*b[a-zA-Z]*\s+\S+\s+\S+\s+" + ARGUMENT, is_real),
        (r"\brabbitmqctl\b.*\b(?:add_user|change_password|authenticate_user)\s+\S+\s+" + ARGUMENT,
         is_real),
        (r"(?i)\bjdbc:oracle:[a-z0-9]+:[^\s/:@\"']+/([^\s@\"']+)@", is_real),
        (r"\b(?:sqlplus|sqlldr|expdp|impdp|exp|imp|rman)\b.*\s[\"']?[A-Za-z][\w$#]*/"
         r"([^\s@/\"']+)@", is_real),
        (_SET_COMMAND + rf"(?:{STRONG_ENDINGS})\s+" + SHELL_WORD, is_real),
        (_SET_COMMAND + rf"(?:{NAME_ENDINGS})\s+" + SHELL_WORD, looks_like_credential),
        (r"(?i)\b(?:secrets?\s+(?:set|create|put|add)|put-secret-value|create-secret|SecureString)"
         r"\b.*\s(?:--value|--body|-b|--secret-string|--data)[ =]" + SHELL_WORD, is_real),
        (r"(?i)\bput-parameter\b.*\s--value[ =]" + SHELL_WORD + r".*\bSecureString\b", is_real),
        (r"(?i)\binsecure-password\s+" + SHELL_WORD, is_real),
        (r"(?i)\b(?:acl\s+setuser|user)\s+\S+\s+(?:\S+\s+)*[>]([^\s]+)\s(?:.*\s)?"
         r"(?:~|\+|&|allkeys|allcommands)", is_real),
        (r"\buser\s+\S+\s+(?:\S+\s+)*#([0-9a-f]{64})(?:\s|$)", is_real),
        *((rf"\bsnmp[a-z]+\b.*\s-{option}\s*" + SHELL_WORD, is_real) for option in "cAX"),
        (r"\bopenssl\s+(?:enc|aes|des|camellia|aria)[a-z0-9\-]*\b.*\s-[kK]\s+"
         + SHELL_WORD, is_real),
        (r"\boperator\s+unseal\s+([A-Za-z0-9+/=]{20,})", looks_like_credential),
        (r"\b(?:etcdctl|skopeo)\b.*--(?:user|(?:src-|dest-)?creds)[ =][\"']?[^\s:\"']+:"
         r"([^\s\"']+)", is_real),
        (r"\b[xw]freerdp\b.*\s/p:" + SHELL_WORD, is_real),
        (r"(?i)\bnet[ ]+use[ ].*[ ](?:\"([^\"]+)\"|([^\s\"\\/*]\S*))[ ]+/user:", _is_no_drive),
        (r"(?i)\bnet\s+use\s.*/user:\S+\s+(?:\"([^\"]+)\"|([^\s\"/*]\S*))", _is_no_drive),
        (r"\bisql\b(?:\s+-\S+)*\s+\S+\s+\S+\s+([^\s\-]\S*)", is_real),
        (r"\bcomposer\s+config\b.*\bhttp-basic\.\S+\s+\S+\s+(\S+)", is_real),
        (r"\bbundle\s+config\b.*\s[^\s:]+:([^\s/:]\S*)", is_real),
        (r"(?i)\bset-?api-?key\s+" + SHELL_WORD, looks_like_credential),
        (r"\b(?:add-authtoken|authtoken|snyk\s+auth)\s+(\S{20,})", looks_like_credential),
        (r"\s-u[ =]\S+\s+-p\s+(?:\"([^\"\n]+)\"|'([^'\n]+)'|([^\s:/\"']+)(?:\s|$))",
         has_letters_and_digits),
        (r"\bmysqlsh\b.*\s[\"']?[A-Za-z][\w.\-]*:([^\s@/\"']+)@", is_real),
        (r"\b(?:addprinc|add_principal|cpw|change_password|plink|pscp|psftp)\b.*\s-pw\s+"
         + SHELL_WORD, is_real),
        (r"\bopenssl\b.*\s-psk\s+([0-9a-fA-F]{8,})", is_real),
        (r"\brclone\s+obscure\s+" + SHELL_WORD, is_real),
        (r"\b(?:private|preshared)-key\s+<\(\s*echo\s+" + SHELL_WORD, is_real),
        (r"(?i)-(?:password|passphrase|secret|token)-?(?:command|cmd)[ =][\"']?echo\s+"
         + SHELL_WORD, is_real),
        (r"\b(?:cryptsetup|kinit|passwd|gpg|sudo\s+-S|login|realm|adcli)\b.*<<<\s*" + SHELL_WORD,
         is_real),
        (r"(?:^|\s)--(?:auth|(?:[a-z0-9]+-)*(?:certificate|account|encryption|master|storage|signing|hmac|"
         r"shared|license|app|integration|routing)-key)[ =]" + SHELL_WORD, looks_like_credential),
        (r"(?i)[\"']--?(?:[a-z0-9\-]*-)?(?:password|passwd|passphrase|pass|pwd|token|secret|api-?key|"
         r"(?:access|secret|private|auth)-?key|jwt)\\*[\"']\s*,\s*\\*[\"']([^\"'\\]{3,})", is_real),
        (r"\"(?:mysql|mysqldump|mysqladmin|mariadb)\\*\"(?:, \\*\"[^\"]*\")*, "
         r"\\*\"-p([^\"\\]{3,})\\*\"",
         is_real),
        (r"\blftp\b.*\s-u\s*[\"']?[^\s,\"']+,([^\s\"']+)", is_real),
        (r"(?i)\bsnmp-server\s+community\s+([^\s]+)", is_real),
        (r"(?i)\b(?:password|secret)\s+[05789]\s+([^\s]{6,})", has_digit),
    )
)  # fmt: skip

COMMAND_RULES: tuple[TokenRule, ...] = (*_OPTIONS, *_COMMANDS)
