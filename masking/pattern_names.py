"""The names a configuration may use for what is to be masked."""

from functools import lru_cache

BUILTIN_PATTERNS: dict[str, str] = {
    "api_key": "API keys under a name that says so",
    "password": "Passwords under a name that says so",
    "certificate": "Certificates and any other PEM block",
    "certificate_authority_data": "Certificate authority data of a kubeconfig",
    "token": "Access tokens under a name, in a Bearer header or after --token",
    "email": "Email addresses",
    "ssh_key": "SSH public keys",
    "base64_secret": "Any base64 text of 20 characters or more",
    "base64_short": "Base64 values of 4 to 19 characters",
    "private_key": "Private keys under a name or as PEM",
    "secret_key": "Secret keys under a name",
    "aws_access_key": "AWS access key ids",
    "aws_secret_key": "AWS secret access keys",
    "github_token": "GitHub tokens of every kind",
    "slack_token": "Slack tokens of every kind",
}

CODE_MASKERS: dict[str, str] = {
    "kubernetes_secret": "The values of Kubernetes Secrets, in whatever text they stand",
}

PRODUCT_PATTERNS: dict[str, str] = {
    "vendor_token": "Tokens that are known by their form",
    "secret": "Secrets, credentials and signatures under a name that says so",
    "credentials_in_url": "Passwords inside URLs, webhook addresses",
    "http_header": "Authorization headers and session cookies",
    "command_line": "Passwords given to command-line programs",
}

KNOWN_PATTERNS = frozenset((*BUILTIN_PATTERNS, *CODE_MASKERS, *PRODUCT_PATTERNS))

# Public or merely personal, or too greedy to be on unasked.
_NOT_BY_DEFAULT = frozenset(
    ("certificate", "certificate_authority_data", "email", "ssh_key", "base64_secret",
     "base64_short")
)  # fmt: skip

_DEFAULT = KNOWN_PATTERNS - _NOT_BY_DEFAULT

PATTERN_GROUPS: dict[str, frozenset[str]] = {
    "default": _DEFAULT,
    "basic": frozenset(("api_key", "password")),
    "secrets": frozenset(("api_key", "password", "token", "private_key", "secret_key")),
    # What alerts are masked by unless configured otherwise: everything the product knows.
    "security": _DEFAULT | {"certificate", "certificate_authority_data", "email", "ssh_key"},
    "kubernetes": frozenset(
        ("kubernetes_secret", "api_key", "password", "certificate_authority_data")
    ),
    "cloud": frozenset(("aws_access_key", "aws_secret_key", "api_key", "token")),
    "all": KNOWN_PATTERNS,
}  # fmt: skip

# Which pattern a kind of named secret (`secret_names.SecretName.kind`) belongs to.
PATTERN_OF_KIND = {"signature": "secret"}


@lru_cache(maxsize=128)
def select_patterns(groups: tuple[str, ...], patterns: tuple[str, ...]) -> frozenset[str]:
    """The patterns that groups and names stand for. Raises `ValueError` on a name nobody knows."""
    chosen: set[str] = set()
    for group in groups:
        if group not in PATTERN_GROUPS:
            known = ", ".join(sorted(PATTERN_GROUPS))
            raise ValueError(f"there is no pattern group {group!r}; known are {known}")
        chosen |= PATTERN_GROUPS[group]
    for name in patterns:
        if name not in KNOWN_PATTERNS:
            known = ", ".join(sorted(KNOWN_PATTERNS))
            raise ValueError(f"there is no pattern {name!r}; known are {known}")
        chosen.add(name)
    return frozenset(chosen)
