"""Secrets that give themselves away: by their own form or by the words around them."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from mcp_bridge.masking.secret_names import (
    NAME_ENDINGS,
    STRONG_ENDINGS,
    is_harmless,
    is_uuid,
    looks_like_credential,
)

Check = Callable[[str], bool]


@dataclass(frozen=True)
class TokenRule:
    """An RE2 pattern; its first group that took part is the secret.

    `pattern_name` is the configuration's name that switches it on, `kind` what it is called.
    """

    pattern_name: str
    kind: str
    pattern: str
    check: Check | None = None
    hint: str = ""
    """A wider pattern for what is bound to line ends or quotes, which escapes replace."""


def _has_digit(value: str) -> bool:
    return any(mark.isdigit() for mark in value)


def _is_real(value: str) -> bool:
    return not is_harmless(value)


_BOUNDARY = r"(?:^|[^A-Za-z0-9_\-])"


def _vendor(kind: str, body: str, check: Check | None = None) -> TokenRule:
    return TokenRule("vendor_token", kind, f"{_BOUNDARY}({body})", check)


_VENDORS = (
    _vendor("age_key", r"AGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    _vendor("llm_key", r"sk-(?:ant|proj|or|svcacct|admin|lf)[_-][A-Za-z0-9_\-]{16,}"),
    _vendor("llm_key", r"sk-[A-Za-z0-9]{20,}[A-Za-z0-9_\-]*"),
    _vendor("llm_key", r"(?:gsk_|xai-|pplx-|r8_|hf_|api_org_)[A-Za-z0-9]{20,}"),
    _vendor("artifactory_token", r"(?:AKC[a-z]|cmVmdGtu)[A-Za-z0-9]{20,}"),
    _vendor("atlassian_token", r"(?:ATATT|ATCTT|ATBB|ATSTT)[A-Za-z0-9_=\-]{20,}"),
    _vendor("azure_token", r"[A-Za-z0-9]{70,80}(?:AZDO|JQQJ)[A-Za-z0-9]{4,10}"),
    _vendor("azure_secret", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.\-]{30,36}"),
    _vendor("databricks_token", r"dapi[0-9a-f]{32}(?:-[0-9])?"),
    _vendor("digitalocean_token", r"do[oprt]_v1_[0-9a-f]{40,}"),
    _vendor("docker_token", r"dckr_[po]at_[A-Za-z0-9_\-]{20,}"),
    _vendor("doppler_token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._\-]{20,}"),
    _vendor("fly_token", r"(?:fo1|fm[12][a-z]?)_[A-Za-z0-9+/=_\-]{20,}"),
    _vendor("google_key", r"AIza[0-9A-Za-z_\-]{30,}|GOCSPX-[A-Za-z0-9_\-]{20,}"),
    _vendor("google_token", r"ya29\.[0-9A-Za-z_.\-]{20,}|1//0[0-9A-Za-z_\-]{20,}"),
    _vendor("gitlab_token", r"gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|soat|oas|wt)-[\w.=\-]{16,}"),
    _vendor("gitlab_token", r"GR1348941[A-Za-z0-9_\-]{20,}"),
    _vendor("grafana_token", r"glc_[A-Za-z0-9+/=]{20,}|glsa_[A-Za-z0-9]{20,}_[0-9a-f]{8}"),
    _vendor("heroku_key", r"HRKU-[A-Za-z0-9_\-]{20,}"),
    _vendor("jwt", r"eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{4,}(?:\.[A-Za-z0-9_\-]*)?"),
    _vendor("linear_key", r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}"),
    _vendor("mailchimp_key", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    _vendor("mailgun_key", r"(?:pub)?key-[0-9a-f]{32}"),
    _vendor("newrelic_key", r"NR(?:AK|AL|II|JS|RA|AA|SP)-[A-Za-z0-9\-]{19,}"),
    _vendor("notion_token", r"ntn_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{40,}"),
    _vendor("npm_token", r"npm_[A-Za-z0-9]{30,}"),
    _vendor("onepassword_token", r"ops_eyJ[A-Za-z0-9_=\-]{40,}"),
    _vendor("openshift_token", r"sha256~[A-Za-z0-9_\-]{30,}"),
    _vendor("planetscale_token", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.\-]{20,}"),
    _vendor("pulumi_token", r"pul-[0-9a-f]{40}"),
    _vendor("pypi_token", r"pypi-[A-Za-z0-9_\-]{32,}"),
    _vendor("rubygems_key", r"rubygems_[0-9a-f]{40,}"),
    _vendor("sendgrid_key", r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{30,}"),
    _vendor("sentry_token", r"sntry[su]_[A-Za-z0-9+/=_\-]{30,}"),
    _vendor("shopify_token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _vendor("stripe_key", r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{20,}"),
    _vendor("telegram_token", r"(?:bot)?[0-9]{8,10}:[A-Za-z0-9_\-]{35}"),
    _vendor("terraform_token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-]{40,}"),
    _vendor("twilio_key", r"SK[0-9a-f]{32}"),
    _vendor("vault_token", r"hv[bsr]\.[A-Za-z0-9_\-]{20,}"),
    _vendor("vault_token", r"[sbr]\.[A-Za-z0-9]{24}", _has_digit),
    _vendor("buildkite_token", r"bk(?:ua|ct|aa)_[0-9a-zA-Z]{32,}"),
    _vendor("circleci_token", r"CCIP(?:AT|RJ)_[A-Za-z0-9_]{20,}"),
    _vendor("postman_key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _vendor("supabase_key", r"sb[ps]_[A-Za-z0-9_]{36,}"),
    _vendor("sonar_token", r"sq[upa]_[0-9a-f]{40}"),
    _vendor("dynatrace_token", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _vendor("tailscale_key", r"tskey-[a-z]+-[A-Za-z0-9_\-]{16,}"),
    _vendor("airtable_token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _vendor("figma_token", r"fig[du]_[A-Za-z0-9_\-]{40,}"),
    _vendor("square_token", r"sq0[a-z]{3}-[A-Za-z0-9_\-]{22,}"),
    _vendor("brevo_key", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _vendor("alibaba_key", r"LTAI[A-Za-z0-9]{16,24}", _has_digit),
    _vendor("aws_session_token", r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9/+=]{40,}"),
    _vendor("password_hash", r"\$(?:2[abxy]|[1567]|y|gy|apr1|argon2id?)\$[./A-Za-z0-9$,=+]{20,}"),
)

_VALUE = r"(?:\"([^\"]+)\"|'([^']+)'|([^\s\"'<>\x00`\\]+))"

_URL_HOST = (
    r"(?:[A-Za-z0-9_][A-Za-z0-9_.\-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:[/?#\s\"'`,;)\]}\\]|$)"
)
_BEGINS_WITH_PORT = re.compile(r"[0-9]{1,5}/")

_CONTEXT = (
    TokenRule(
        "credentials_in_url", "url_password",
        r"[A-Za-z][A-Za-z0-9+.\-]*:\\*/\\*/[^\s:/@\"'<>]*:([^\s/\"'<>]+)@[A-Za-z0-9\[_{]",
        _is_real,
    ),
    TokenRule(
        "credentials_in_url", "url_password",
        # A slash that nobody encoded: not behind a port, where a path begins.
        r"[A-Za-z][A-Za-z0-9+.\-]*:\\*/\\*/[^\s:/@\"'<>\[]*:([^\s/@\"'<>,;]*/[^\s@\"'<>,;]*)@"
        + _URL_HOST, lambda value: _is_real(value) and not _BEGINS_WITH_PORT.match(value),
    ),
    TokenRule(
        "credentials_in_url", "url_password",
        # What these schemes name has no "@" behind its host.
        r"(?i)(?:postgres(?:ql)?|cockroach(?:db)?|mysqlx?|mariadb|mssql|sqlserver|oracle|mongodb|"
        r"rediss?|valkeys?|amqps?|kafka|nats|ldaps?|smtps?|imaps?|clickhouse|cassandra|couchbase|"
        r"memcached?|etcd|s?ftps?)(?:\+[a-z0-9]+)?:\\*/\\*/[^\s:/@\"'<>\[]*:"
        r"([^\s\"'<>?,]*[/@][^\s\"'<>?,]*)@" + _URL_HOST, _is_real,
    ),
    TokenRule(
        "credentials_in_url", "url_token",
        r"[A-Za-z][A-Za-z0-9+.\-]*:\\*/\\*/([A-Za-z0-9_\-]{20,})@[A-Za-z0-9\[_{]",
        looks_like_credential,
    ),
    TokenRule(
        "credentials_in_url", "webhook",
        r"(?i)hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_\-]{8,})",
    ),
    TokenRule(
        "credentials_in_url", "webhook",
        r"(?i)discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/([A-Za-z0-9_\-]{16,})",
    ),
    TokenRule(
        "credentials_in_url", "webhook",
        r"(?i)webhook\.office\.com/webhookb2/([A-Za-z0-9@/_\-]{16,})",
    ),
    TokenRule(
        "http_header", "authorization",
        r"(?i)authorization\\*[\"']?\s*[:=,]\s*\\*[\"']?(?:(?:[a-z][a-z0-9_\-]*)\s+)"
        r"([A-Za-z0-9+/=_.~:\-]{6,})", looks_like_credential,
    ),
    TokenRule(
        "http_header", "authorization",
        r"(?i)authorization\\*[\"']?\s*[:=,]\s*\\*[\"']?([A-Za-z0-9+/=_.~:\-]{12,})",
        looks_like_credential,
    ),
    TokenRule("token", "token", r"(?i)\bbearer\s+([A-Za-z0-9+/=_.~\-]{12,})",
              looks_like_credential),
    TokenRule("http_header", "authorization", r"(?i)\bbasic\s+([A-Za-z0-9+/=_\-]{12,})",
              looks_like_credential),
    TokenRule("http_header", "authorization",
              r"(?i)\bdigest\s.*\bresponse=\\*\"?([0-9a-f]{16,})"),
    TokenRule(
        "http_header", "cookie",
        r"(?i)[a-z0-9_.\-]*(?:sess(?:ion)?(?:id)?|sid|jwt|csrf|xsrf|remember_me)="
        r"([A-Za-z0-9%+/=_.~:\-]{12,})",
        looks_like_credential,
    ),
    TokenRule(
        "http_header", "cookie",
        r"(?i)[a-z0-9_.\-]*sess(?:ion)?[_-]id=([A-Za-z0-9%+/=_.~:\-]{12,})",
        # A session of an application has a UUID, and logs are full of them.
        lambda value: looks_like_credential(value) and not is_uuid(value),
    ),
    TokenRule(
        "command_line", "password",
        r"(?i)(?:^|[\s\"'\[,])--?(?:[a-z0-9\-]*-|store|key|src|dest|sasl|db|user|root|admin|http)?"
        r"(?:password|passwd|passphrase|pass|pwd)(?:=|\s+)"
        + _VALUE, lambda value: _is_real(value) and not value.startswith("-"),
    ),
    TokenRule(
        "token", "token",
        r"(?i)(?:^|[\s\"'\[,])--?(?:[a-z0-9\-]*-)?(?:token|secret|api-?key|(?:access|secret|"
        r"private|auth)-?key|jwt)(?:=|\s+)" + _VALUE,
        lambda value: _is_real(value) and not value.startswith("-") and len(value) >= 6,
    ),
    TokenRule("command_line", "password",
              r"(?i)\bcurl\b.*\s(?:-u|--user)[ =]?[\"']?[^\s:\"']+:([^\s\"']+)", _is_real),
    TokenRule("command_line", "password",
              r"\b(?:redis-cli|valkey-cli)\b.*\s-a\s+([^\s-][^\s]*)", _is_real),
    TokenRule("command_line", "password",
              r"\b(?:docker|podman|helm|nerdctl|crane|skopeo|az|oc)\b.*\blogin\b.*\s-p\s*([^\s]+)",
              _is_real),
    TokenRule("command_line", "password", r"\bsshpass\s+-p\s*([^\s]+)", _is_real),
    TokenRule("command_line", "password",
              r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b.*\s-p([^\s]{3,})", _is_real),
    TokenRule("command_line", "password", r"\bldap(?:search|modify|add)\b.*\s-w\s+([^\s]+)",
              _is_real),
    TokenRule("command_line", "password", r"\bpass:([^\s\"']{4,})", looks_like_credential),
    TokenRule(
        "password", "password",
        r"(?i)\b(?:password|identified(?:\s+with\s+\S+)?\s+by(?:\s+password)?)\s+'([^']+)'",
        _is_real,
    ),
    TokenRule("password", "password", r"(?i)\blogin\s+\S+\s+password\s+([^\s]+)", _is_real),
    TokenRule("password", "password", r"(?i)^\s*password\s+([^\s]+)\s*$", _has_digit,
              hint=r"(?i)password\s+[^\s]*[0-9]"),
    TokenRule(
        "password", "password",
        r"^\s*[A-Za-z*][A-Za-z0-9.*\-]*:(?:[0-9]{2,5}|\*):[^\s:]+:[^\s:]+:((?:[^\s:\\]|\\.){6,})$",
        _is_real, hint=r":(?:[0-9]{2,5}|\*):[^\s:]+:[^\s:]+:[^\s]{6}",
    ),
    TokenRule("secret_key", "unseal_key", r"(?i)unseal key [0-9]+:\s*([A-Za-z0-9+/=]{20,})"),
)  # fmt: skip

_NAMED = (
    TokenRule("github_token", "github_token",
              _BOUNDARY + r"(gh[pousr]_[A-Za-z0-9_]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    TokenRule("slack_token", "slack_token", _BOUNDARY +
              r"(xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9\-]{10,}|xapp-[0-9]-[A-Za-z0-9\-]{20,})",
              _has_digit),
    TokenRule("aws_access_key", "aws_access_key",
              _BOUNDARY + r"((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b"),
    TokenRule("certificate_authority_data", "ca_certificate",
              r"(?i)certificate-authority-data[\"']?:\s*[\"']?([A-Za-z0-9+/]{20,}={0,2})"),
    TokenRule("email", "email",
              r"\b([A-Za-z0-9._%+\-]+@[A-Za-z0-9]+(?:[.\-][A-Za-z0-9]+)*\.[A-Za-z]{2,63})\b"),
    TokenRule("ssh_key", "ssh_key",
              r"((?:ssh-(?:rsa|dss|ed25519|ecdsa)|ecdsa-sha2-nistp[0-9]+|sk-ssh-ed25519@openssh\.com)"
              r"\s+[A-Za-z0-9+/=]{20,})"),
    TokenRule("base64_secret", "base64", r"(?:^|[^A-Za-z0-9+/=])([A-Za-z0-9+/]{20,}={0,2})"),
    TokenRule("base64_short", "base64", r":\s+([A-Za-z0-9+/]{4,19}={0,2})(?:\s|$)"),
)  # fmt: skip

_NAME = rf"[A-Za-z0-9_.:\-]*(?:{NAME_ENDINGS})"
_ELEMENT = r"[A-Za-z0-9_.:\-]*(?:token|secret|credentials?|psk)|[A-Za-z0-9_.:\-]+key"
_STRONG_NAME = rf"[A-Za-z0-9_.:\-]*(?:{STRONG_ENDINGS})"
_WORD = r"[\"']?([^\s\"'<>|;&]+)"
_SET_COMMAND = (
    r"(?i)\b(?:setx|setenv|set\s+-[a-z]+|config\s+set(?:\s+--?[a-z]+)*|kv\s+put|etcdctl\s+put)"
    r"\s+[a-z0-9_.:/\-]*"
)


def _has_letters_and_digits(value: str) -> bool:
    return len(value) >= 8 and _has_digit(value) and any(map(str.isalpha, value))


_COMMANDS = tuple(
    TokenRule("command_line", "password", pattern, check)
    for pattern, check in (
        (r"--from-literal[= ][\"']?[A-Za-z0-9_.\-]+=([^\s\"']+)", _is_real),
        (r"\bhttps?\s.*(?:-a|--auth)[ =][\"']?[^\s:\"']+:([^\s\"']+)", _is_real),
        (r"(?i)\b(?:requirepass|masterauth|auth-pass\s+\S+)\\*[\"']?\s+" + _WORD, _is_real),
        (r"(?:^|[>\"])\s*AUTH\s+(?:[^\s]+\s+)?([^\s\"]+)\s*(?:$|\")", _has_digit),
        (r"\b(?:mongo(?:sh|dump|restore|export|import)?|cqlsh)\b.*\s-p\s*([^\s-][^\s]*)", _is_real),
        (r"\b(?:sqlcmd|mosquitto_[a-z]+|ipmitool|zip|unzip|zipcloak)\b.*\s-P\s*" + _WORD, _is_real),
        (r"\b7za?\b.*\s-p([^\s]+)", _is_real),
        (r"\b(?:smbclient|rpcclient|net)\b.*(?:-U|--user)[ =]?[\"']?[^\s%\"']+%([^\s\"']+)",
         _is_real),
        (r"\bmc\s+(?:alias|config\s+host)\s+(?:set|add)\s+\S+\s+\S+\s+\S+\s+([^\s]+)", _is_real),
        (r"\becho\s+(?:-[ne]+\s+)?" + _WORD + r"[\"']?\s*\|[^|]*"
         r"(?:-stdin|sudo\s+-S|\bsecrets?\s+(?:set|create|add)\b)", _is_real),
        (r"\becho\s+(?:-[ne]+\s+)?[\"']?[^\s:\"']+:([^\s\"']+)[\"']?\s*\|.*\bchpasswd", _is_real),
        (r"\bhtpasswd\s+-[a-zA-Z]*b[a-zA-Z]*\s+\S+\s+\S+\s+([^\s]+)", _is_real),
        (r"\brabbitmqctl\b.*\b(?:add_user|change_password|authenticate_user)\s+\S+\s+([^\s]+)",
         _is_real),
        (r"(?i)\bjdbc:oracle:[a-z0-9]+:[^\s/:@\"']+/([^\s@\"']+)@", _is_real),
        (r"\b(?:sqlplus|sqlldr|expdp|impdp|exp|imp|rman)\b.*\s[\"']?[A-Za-z][\w$#]*/"
         r"([^\s@/\"']+)@", _is_real),
        (_SET_COMMAND + rf"(?:{STRONG_ENDINGS})\s+" + _WORD, _is_real),
        (_SET_COMMAND + rf"(?:{NAME_ENDINGS})\s+" + _WORD, looks_like_credential),
        (r"(?i)\b(?:secrets?\s+(?:set|create|put|add)|put-secret-value|create-secret|SecureString)"
         r"\b.*\s(?:--value|--body|-b|--secret-string|--data)[ =]" + _WORD, _is_real),
        (r"(?i)\bput-parameter\b.*\s--value[ =]" + _WORD + r".*\bSecureString\b", _is_real),
        (r"(?i)\binsecure-password\s+" + _WORD, _is_real),
        (r"(?i)\b(?:acl\s+setuser|user)\s+\S+\s+(?:\S+\s+)*[>]([^\s]+)\s(?:.*\s)?"
         r"(?:~|\+|&|allkeys|allcommands)", _is_real),
        (r"(?i)\bsnmp-server\s+community\s+([^\s]+)", _is_real),
        (r"(?i)\b(?:password|secret)\s+[05789]\s+([^\s]{6,})", _has_digit),
    )
)  # fmt: skip

_SPELLED = (
    TokenRule("password", "password",
              rf"(?i)<{_STRONG_NAME}>([^<\s][^<]*)</", _is_real),
    TokenRule("secret", "secret", rf"(?i)<(?:{_ELEMENT})>([^<\s][^<]*)</", looks_like_credential),
    TokenRule("password", "password",
              rf"(?i)(?:name|key)=\\*[\"']{_STRONG_NAME}\\*[\"']\s+value=\\*[\"']([^\"'\\]+)",
              _is_real),
    TokenRule("secret", "secret",
              rf"(?i)(?:name|key)=\\*[\"']{_NAME}\\*[\"']\s+value=\\*[\"']([^\"'\\]+)",
              looks_like_credential),
    TokenRule("password", "password",
              rf"(?i)\bdefine\(\s*[\"']{_STRONG_NAME}[\"']\s*,\s*[\"']([^\"']+)", _is_real),
    TokenRule("secret", "secret",
              rf"(?i)\bdefine\(\s*[\"']{_NAME}[\"']\s*,\s*[\"']([^\"']+)",
              looks_like_credential),
    TokenRule("secret", "secret", rf"(?:^|[\s\"'])(?:ENV|ARG)\s+(?i:{_NAME})\s+([^\s]+)",
              _has_letters_and_digits),
    TokenRule("password", "password",
              rf"(?i){_NAME}&(?:quot|apos|#34|#39);\s*[:=]\s*&(?:quot|apos|#34|#39);([^&<\s]+)",
              _is_real),
    TokenRule("password", "password", r"(?i)\b(?:pwd|password)=\{([^}\s]+)\}", _is_real),
    TokenRule("password", "password", r"(?i)\bpassword(?:\s*=\s*N|\(\s*)'([^']+)'", _is_real),
    TokenRule("password", "password",
              r"(?i)\bidentified(?:\s+with\s+\S+)?\s+by\s+\\*\"?([^\s'\";\\]+)",
              _has_letters_and_digits),
    TokenRule("password", "password",
              r"(?i)\bpassw(?:or)?[dt]\s+(?:is|was|lautet|ist|set\s+to)\s*:?\s*" + _WORD,
              _has_letters_and_digits),
    TokenRule("secret", "signature", r"(?i)\bsignature=([0-9a-f]{32,})"),
    TokenRule("vendor_token", "password_hash",
              r"grub\.pbkdf2\.sha512\.[0-9]+\.([0-9A-Fa-f.]{20,})"),
    TokenRule("vendor_token", "password_hash",
              r"(?i)password_(?:double_)?sha(?:1|256)(?:_hex)?\\*[\"']?\s*[>:=]\s*\\*[\"']?"
              r"([0-9a-f]{40,})"),
    TokenRule("vendor_token", "password_hash",
              r"\{S?SHA(?:256|512)?\}([A-Za-z0-9+/=]{20,})|pbkdf2_sha[0-9]+\$[0-9]+\$([^\s\"']{20,})"),
)  # fmt: skip

TOKEN_RULES: tuple[TokenRule, ...] = (
    *_NAMED, *_VENDORS, *_CONTEXT, *_COMMANDS, *_SPELLED,
)  # fmt: skip
