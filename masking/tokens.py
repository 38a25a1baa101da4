"""Secrets that give themselves away: by their own form or by the words around them."""

import re

from masking.command_lines import COMMAND_RULES
from masking.formats import FORMAT_RULES
from masking.programs import PROGRAM_RULES
from masking.secret_names import is_uuid, looks_like_credential, looks_random
from masking.token_rule import ARGUMENT, BOUNDARY, TokenRule, has_digit, is_real
from masking.vendor_secrets import VENDOR_RULES

_URL_HOST = (
    r"(?:[A-Za-z0-9_][A-Za-z0-9_.\-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:[/?#\s\"'`,;)\]}\\]|$)"
)
_TWILIO_ID = re.compile(r"[A-Z]{2}[0-9a-f]{32}$")
"""What Twilio calls a SID: the name of an account, of a message."""
_BEGINS_WITH_PORT = re.compile(r"[0-9]{1,5}/")


def _is_authorization(value: str) -> bool:
    """What a header brings, but neither the scheme of a signature nor its scope."""
    return looks_like_credential(value) and not value.startswith(("Credential=", "AWS4-HMAC-"))


_CONTEXT = (
    TokenRule(
        "credentials_in_url", "url_password",
        r"[A-Za-z][A-Za-z0-9+.\-]*:\\*/\\*/[^\s:/@\"'<>]*:([^\s/\"'<>]+)@[A-Za-z0-9\[_{]",
        is_real,
    ),
    TokenRule(
        "credentials_in_url", "url_password",
        # A slash that nobody encoded: not behind a port, where a path begins.
        r"[A-Za-z][A-Za-z0-9+.\-]*:\\*/\\*/[^\s:/@\"'<>\[]*:([^\s/@\"'<>,;]*/[^\s@\"'<>,;]*)@"
        + _URL_HOST, lambda value: is_real(value) and not _BEGINS_WITH_PORT.match(value),
    ),
    TokenRule(
        "credentials_in_url", "url_password",
        # What these schemes name has no "@" behind its host.
        r"(?i)(?:postgres(?:ql)?|cockroach(?:db)?|mysqlx?|mariadb|mssql|sqlserver|oracle|mongodb|"
        r"rediss?|valkeys?|amqps?|kafka|nats|ldaps?|smtps?|imaps?|clickhouse|cassandra|couchbase|"
        r"memcached?|etcd|s?ftps?)(?:\+[a-z0-9]+)?:\\*/\\*/[^\s:/@\"'<>\[]*:"
        r"([^\s\"'<>?,]*[/@][^\s\"'<>?,]*)@" + _URL_HOST, is_real,
    ),
    TokenRule(
        "credentials_in_url", "url_token",
        r"[A-Za-z][A-Za-z0-9+.\-]*:\\*/\\*/([A-Za-z0-9_\-]{12,})@[A-Za-z0-9\[_{]",
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
        r"(?i)(?:webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook)/"
        r"([A-Za-z0-9@/_\-]{16,})",
    ),
    TokenRule(
        "credentials_in_url", "webhook",
        r"(?i)(?:events\.pagerduty\.com/integration|hooks\.zapier\.com/hooks/catch|hc-ping\.com|"
        r"/open-apis/bot/v2/hook|maker\.ifttt\.com/trigger/[^/\s]+/with/key)/([A-Za-z0-9/_\-]{16,})",
    ),
    TokenRule(
        "credentials_in_url", "url_token",
        # The name is the token where the password says so, or is empty.
        r"://([A-Za-z0-9_\-]{16,}):(?:x-oauth-basic)?@[A-Za-z0-9\[]", looks_like_credential,
    ),
    TokenRule(
        "credentials_in_url", "url_password",
        r"(?:^|[\s\"'=:(\[,])[A-Za-z0-9_.\-]+:([^\s@/\"']+)@(?:tcp|udp|unix)\(", is_real,
    ),
    TokenRule(
        "credentials_in_url", "url_token", r"[?&]code=([A-Za-z0-9%._~/\-]{20,})",
        looks_like_credential,
    ),
    TokenRule("credentials_in_url", "url_token", r"\bSAMLResponse=([A-Za-z0-9%+/=_\-]{20,})"),
    TokenRule(
        "http_header", "authorization",
        r"(?i)authorization\\*[\"']?\]?\s*[:=,]\s*\\*[\"']?(?:(?:[a-z][a-z0-9_\-]*)\s+)"
        r"([A-Za-z0-9+/=_.~:\-]{6,})", _is_authorization,
    ),
    TokenRule(
        "http_header", "authorization",
        r"(?i)authorization\\*[\"']?\]?\s*[:=,]\s*\\*[\"']?([A-Za-z0-9+/=_.~:\-]{12,})",
        _is_authorization,
    ),
    TokenRule("token", "token", r"(?i)\bbearer\s+([A-Za-z0-9+/=_.~\-]{12,})",
              looks_like_credential),
    TokenRule("http_header", "authorization", r"(?i)\bbasic\s+([A-Za-z0-9+/=_\-]{12,})",
              looks_like_credential),
    TokenRule("http_header", "authorization",
              r"(?i)\bdigest\s.*\bresponse=\\*\"?([0-9a-f]{16,})"),
    TokenRule("http_header", "authorization",
              r"(?i)\b(?:mac|signature)=\\*\"([A-Za-z0-9+/=]{20,})"),
    TokenRule("http_header", "authorization",
              r"(?i)\bx-jfrog-art-api\\*[\"']?\s*[:=]\s*\\*[\"']?([A-Za-z0-9_\-]{16,})"),
    TokenRule("http_header", "authorization",
              r"bearer\.authorization\.k8s\.io\.([A-Za-z0-9_\-]{16,})"),
    TokenRule(
        "http_header", "cookie",
        r"(?i)(?:\.aspnet[a-z0-9_.]*|_?oauth2?_proxy[a-z0-9_]*|wordpress_(?:logged_in|sec)_[0-9a-f]+|"
        r"cf_clearance|keycloak_identity[a-z_]*|auth_session[a-z_]*|authentik_[a-z]+|iplanetdirectorypro|"
        r"mrhsession|[a-z0-9_]*saml[a-z0-9_]*|\b(?:[a-z0-9]+_)*sso(?:_[a-z]+|token|id|session)?)="
        r"([A-Za-z0-9%+/=_.~:|\-]{16,})", looks_like_credential,
    ),
    TokenRule(
        "http_header", "cookie",
        r"(?i)[a-z0-9_.\-]*(?:sess(?:ion)?(?:id)?|sid|jwt|csrf|xsrf|remember_me)="
        r"([A-Za-z0-9%+/=_.~:\-]{12,})",
        lambda value: looks_like_credential(value) and not _TWILIO_ID.match(value),
    ),
    TokenRule(
        "http_header", "cookie",
        r"(?i)[a-z0-9_.\-]*sess(?:ion)?[_-]id=([A-Za-z0-9%+/=_.~:\-]{12,})",
        # A session of an application has a UUID, and logs are full of them.
        lambda value: looks_like_credential(value) and not is_uuid(value),
    ),
    TokenRule(
        "password", "password",
        r"(?i)\b(?:password|identified(?:\s+with\s+\S+)?\s+by(?:\s+password)?)\s+'([^']+)'",
        is_real,
    ),
    TokenRule("password", "password", r"(?i)\blogin\s+\S+\s+password\s+" + ARGUMENT, is_real),
    TokenRule("password", "password", r"(?i)^\s*password\s+([^\s]+)\s*$", has_digit,
              hint=r"(?i)password\s+[^\s]*[0-9]"),
    TokenRule(
        "password", "password",
        r"^\s*[A-Za-z*][A-Za-z0-9.*\-]*:(?:[0-9]{2,5}|\*):[^\s:]+:[^\s:]+:((?:[^\s:\\]|\\.){6,})$",
        is_real, hint=r":(?:[0-9]{2,5}|\*):[^\s:]+:[^\s:]+:[^\s]{6}",
    ),
    TokenRule(
        "aws_secret_key", "aws_secret_key",
        # Under no name, but in one line with its id.
        r"(?:AKIA|ASIA)[A-Z0-9]{16}(?:[^A-Za-z0-9/+]{1,4}[A-Za-z0-9]{1,20}){0,6}"
        r"[^A-Za-z0-9/+]{1,6}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
        looks_random,
    ),
    TokenRule("aws_secret_key", "aws_secret_key",
              r"(?i)secret access key(?: \[[^\]\n]*\])?\s*[:=]\s*([A-Za-z0-9/+]{40})"),
    TokenRule("token", "token",
              r"(?:^|\s)([a-z0-9]{6}\.[a-z0-9]{16})\s+(?:<[a-z]+>|[0-9]+[smhd])(?:\s|$)"),
    TokenRule("secret_key", "unseal_key", r"(?i)unseal key [0-9]+:\s*([A-Za-z0-9+/=]{20,})"),
)  # fmt: skip

_NAMED = (
    TokenRule("github_token", "github_token",
              BOUNDARY + r"(gh[pousr]_[A-Za-z0-9_]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    TokenRule("slack_token", "slack_token", BOUNDARY +
              r"(xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9\-]{10,}|xapp-[0-9]-[A-Za-z0-9\-]{20,})",
              has_digit),
    TokenRule("aws_access_key", "aws_access_key",
              BOUNDARY + r"((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b"),
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

TOKEN_RULES: tuple[TokenRule, ...] = (
    *_NAMED, *VENDOR_RULES, *_CONTEXT, *COMMAND_RULES, *PROGRAM_RULES, *FORMAT_RULES,
)  # fmt: skip
