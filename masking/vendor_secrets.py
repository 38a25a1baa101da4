"""Tokens of vendors, which are known by their form alone."""

import re

from masking.token_rule import BOUNDARY, Check, TokenRule, has_digit

_BODY = re.compile(r"[A-Za-z0-9]{32,}")


def _has_random_body(value: str) -> bool:
    """Letters of both cases and digits in one long piece, and no checksum."""
    # Stripe's key for browsers is public.
    if value.lower().startswith(("sha", "md5", "pk_live_", "pk_test_", "pk_prod_")):
        return False
    return any(
        sum(map(str.isdigit, body)) >= 3
        and sum(map(str.isupper, body)) >= 4
        and sum(map(str.islower, body)) >= 4
        for body in _BODY.findall(value[:400])
    )


def _vendor(kind: str, body: str, check: Check | None = None) -> TokenRule:
    return TokenRule("vendor_token", kind, f"{BOUNDARY}({body})", check)


VENDOR_RULES = (
    _vendor("age_key", r"AGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    _vendor("llm_key", r"sk-(?:ant|proj|or|svcacct|admin|lf)[_-][A-Za-z0-9_\-]{16,}"),
    _vendor("llm_key", r"sk-[A-Za-z0-9]{20,}[A-Za-z0-9_\-]*"),
    _vendor("llm_key", r"(?:gsk_|xai-|pplx-|r8_|hf_|api_org_)[A-Za-z0-9]{20,}"),
    _vendor("llm_key", r"(?:nvapi-|tvly-|pcsk_|csk-|jina_|fw_|lsv2_[a-z]{2}_)[A-Za-z0-9_\-]{24,}"),
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
    _vendor(
        "gitlab_token", r"gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[\w.=\-]{16,}"
    ),
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
    _vendor("stripe_key", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{20,}"),
    _vendor("telegram_token", r"(?:bot)?[0-9]{8,10}:[A-Za-z0-9_\-]{35}"),
    _vendor("terraform_token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-]{40,}"),
    _vendor("twilio_key", r"SK[0-9a-f]{32}"),
    _vendor("vault_token", r"hv[bsr]\.[A-Za-z0-9_\-]{20,}"),
    _vendor("vault_token", r"[sbr]\.[A-Za-z0-9]{24}", has_digit),
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
    _vendor("alibaba_key", r"LTAI[A-Za-z0-9]{16,24}", has_digit),
    _vendor("tencent_key", r"AKID[A-Za-z0-9]{32}"),
    _vendor("aws_session_token", r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9/+=]{40,}"),
    _vendor("clojars_token", r"CLOJARS_[0-9a-f]{60}"),
    _vendor("incident_token", r"(?:rootly|inc)_[0-9a-f]{64}"),
    _vendor("ceph_key", r"AQ[A-Za-z0-9+/]{36}=="),
    _vendor(
        "token",
        r"(?:[a-z][a-z0-9]{1,11}|[A-Z]{2,8})[_\-](?:[A-Za-z0-9]{1,8}[_\-]){0,2}"
        r"[A-Za-z0-9]{32,}[A-Za-z0-9_\-]*",
        _has_random_body,
    ),
    _vendor("newrelic_key", r"[0-9a-f]{36}NRAL"),
    _vendor("onepassword_key", r"A3-[A-Z0-9]{6}-[A-Z0-9]{11}(?:-[A-Z0-9]{5}){3}"),
    _vendor("cloudflare_key", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    _vendor("grafana_token", r"eyJrIjoi[A-Za-z0-9+/]{20,200}={0,2}"),
    _vendor("jwt", r"eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{20,}(?:\.[A-Za-z0-9_\-]+){3}"),
    _vendor("password_hash", r"\*[0-9A-F]{40}"),
    TokenRule("vendor_token", "jenkins_secret", r"\{(AQAAABAAAA[A-Za-z0-9+/=]{20,})\}"),
    _vendor("password_hash", r"\$(?:2[abxy]|[1567]|y|gy|apr1|argon2id?)\$[./A-Za-z0-9$,=+]{20,}"),
)
