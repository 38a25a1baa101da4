import base64
import json

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from agents.types import JSON
from masking import (
    PATTERN_GROUPS,
    Masker,
    PatternError,
    Placeholders,
    assignments,
    build_default_masker,
    build_masker,
    compile_custom,
)
from masking.budget import Budget
from masking.secret_names import is_secret_value
from masking.spans import Span, merge_spans
from tests.server_plans import CustomPattern

PASSWORD = "Ex4mple-Pass-01!"
ENCODED = base64.b64encode(PASSWORD.encode()).decode()
TOKEN = "ghp_P6nEVctK1izQ7oFWduL2jAR8pGXevM3kBS9q"
BODY = "0dqDQ1erER2fsFS3gtGT4huHU5ivIV6jwJW7kxKX8lyLY9mzMZanAN+boBO/cpCP"


def mask(text: str, **selection) -> str:
    return build_masker(**selection).mask(text).text


def test_only_the_value_goes_and_the_name_stays():
    assert mask(f"user=app pass={PASSWORD} host=db-1") == (
        "user=app pass=[MASKED:password#1] host=db-1"
    )
    assert mask("GITHUB_TOKEN=abcd1234") == "GITHUB_TOKEN=[MASKED:token#1]"


def test_json_stays_json_whatever_the_key_is_called():
    text = '{"apiKey": "abcd1234efgh5678ijkl", "pin": 1, "password": 12345678, "n": [true]}'

    assert json.loads(mask(text)) == {
        "apiKey": "[MASKED:api_key#1]",
        "pin": 1,
        "password": "[MASKED:password#1]",
        "n": [True],
    }


def test_yaml_stays_yaml_and_values_stay_text():
    text = f"db:\n  password: {PASSWORD} # rotate\n  port: 5432\n"

    assert yaml.safe_load(mask(text)) == {"db": {"password": "[MASKED:password#1]", "port": 5432}}


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer 3mFYhATcvO7qJ2lEXgzSbuN6pI1k", "3mFYhATcvO7qJ2lEXgzSbuN6pI1k"),
        ("authorization: Basic cDpFeDRtcGxlLVBhc3MtNDgh", "cDpFeDRtcGxlLVBhc3MtNDgh"),
        ("gho_2jAR8pGXevM3kBS9qHYfwN4lCTarIZgxO5mD", "gho_2jAR8pGXevM3kBS9qHYfwN4l"),
        ("ghu_2jAR8pGXevM3kBS9qHYfwN4lCTarIZgxO5mD", "ghu_2jAR8pGXevM3kBS9qHYfwN4l"),
        ("x github_pat_UbsJ0hyP6nEVctK1izQ7oF_XevM3kBS9q", "github_pat_UbsJ0hyP6nEVctK1izQ7oF"),
        ("postgres://app:Ex4mplePass@pg-0:5432/orders", "Ex4mplePass"),
        ("tool --token Ex4mpleCli13Tok --port 80", "Ex4mpleCli13Tok"),
        ("mysql -h db -pEx4mpleCli7 app", "Ex4mpleCli7"),
        ("Server=a;Password=Ex4mple-Pass-44!;Encrypt=True", "Ex4mple-Pass-44!"),
        ("ALTER USER app WITH PASSWORD 'Ex4mpleSqlPw2'", "Ex4mpleSqlPw2"),
        ('{"log": "{\\"password\\":\\"Ex4mpleNest1\\"}"}', "Ex4mpleNest1"),
        ("u=https%3A%2F%2Fsvc%3AEx4mplePct%40git.example.com", "Ex4mplePct"),
        ("glpat-\u200bxQ9sL4nGZiBUdwP8rK3m", "xQ9sL4nGZiBUdwP8rK3m"),
        ("blob " + base64.b64encode(f"password={PASSWORD} x".encode()).decode(), "cGFzc3dvcmQ9"),
        (f'{{"env":[{{"name":"DB_PASSWORD","value":"{PASSWORD}"}}]}}', PASSWORD),
        (f"env:\n- name: DB_PASSWORD\n  value: {PASSWORD}\n", PASSWORD),
    ],
)
def test_secret_does_not_survive(text, secret):
    assert secret in text

    masked = mask(text)

    assert secret not in masked
    assert "[MASKED:" in masked


@pytest.mark.parametrize(
    "text",
    [
        "unexpected token: end of input near line 14",
        'FATAL:  password authentication failed for user "orders_rw"',
        "monkey=1 turkey=2 keyboard=us passenger=3 bypass=on",
        "token_count: 5\nmax_tokens: 8192\npassword_policy: strong\nsecrets_total: 12",
        "env:\n- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      key: password\n",
        '{"commit":"27c16b05af49e38d5c3a18f6d4b2907e83e94fa5"}',
        '{"password":"********","token":"[REDACTED]","secret":"<masked>"}',
        "PWD=/app\nAPI_KEY_HEADER=X-Api-Key\nSECRET_SERVICE_PORT=8080",
        "connecting to postgres://app@pg-0:5432/orders",
        "kind: ConfigMap\ndata:\n  logo: iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ\n",
        "resources:\n- kind: Secret\n  name: db-creds\n  status: Synced\n",
        f"-----BEGIN CERTIFICATE-----\n{BODY}\n-----END CERTIFICATE-----\n",
        "tests: pass=12 fail=0",
        "passwd:         files systemd\nshadow: files",
    ],
)
def test_text_without_secrets_is_untouched(text):
    assert mask(text) == text


SECRET_YAML = f"""apiVersion: v1
kind: Secret
metadata:
  name: db-creds
data:
  url: {ENCODED}
  user: c3ZjX3VzZXI=
stringData:
  note: |
    line {PASSWORD}
    more
"""


@pytest.mark.parametrize(
    "text",
    [
        SECRET_YAML,
        SECRET_YAML.replace("kind: Secret", 'kind: "Secret"'),
        f"here it is:\n```yaml\n{SECRET_YAML}```\nas asked",
        "kind: Pod\n  broken: [\n---\n" + SECRET_YAML,
        SECRET_YAML[: SECRET_YAML.index("stringData")] + "...[truncated]",
        "apiVersion: v1\nkind: List\nitems:\n- "
        + SECRET_YAML.replace("\n", "\n  ").rstrip()
        + "\n",
        json.dumps([{"kind": "Secret", "data": {"url": ENCODED}}]),
        json.dumps({"kind": "List", "items": [{"data": {"url": ENCODED}, "kind": "Secret"}]}),
        json.dumps({"kind": "Secret", "stringData": {"a": {"b": PASSWORD}}}, indent=2),
        'got {"kind":"Secret","metadata":{"name":"x"},"data":{"url":"' + ENCODED[:14] + "...",
        json.dumps({"text": SECRET_YAML}),
    ],
)
def test_kubernetes_secret_loses_its_values_in_every_shape(text):
    masked = mask(text)

    assert ENCODED[:14] not in masked
    assert PASSWORD not in masked
    assert "[MASKED:" in masked
    assert ("db-creds" in text) == ("db-creds" in masked)


def test_masked_manifest_is_still_the_same_manifest():
    masked = yaml.safe_load(mask(SECRET_YAML))

    assert masked["metadata"] == {"name": "db-creds"}
    assert set(masked["data"]) == {"url", "user"}
    assert masked["data"]["url"] == "[MASKED:kubernetes_secret#1]"


def test_values_of_other_kinds_beside_a_secret_stay():
    text = f"kind: ConfigMap\ndata:\n  icon: aWNvbi1ieXRlcw==\n---\n{SECRET_YAML}"

    masked = mask(text)

    assert "aWNvbi1ieXRlcw==" in masked
    assert ENCODED not in masked


@pytest.mark.parametrize("ending", ["\n-----END RSA PRIVATE KEY-----\nok", "\n[output truncated]"])
def test_private_key_is_masked_whole_or_cut(ending):
    text = f"$ cat key\n-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n{BODY}{ending}"

    masked = mask(text)

    assert BODY not in masked
    assert masked.endswith(ending)


def test_same_secret_is_the_same_placeholder_for_all_who_share_them():
    placeholders = Placeholders()
    one, two = build_default_masker(placeholders), build_masker(["all"], placeholders=placeholders)

    first = one.mask(f"password={PASSWORD} token={TOKEN}").text
    second = two.mask(f"password={PASSWORD}x password={PASSWORD}").text

    assert first == "password=[MASKED:password#1] token=[MASKED:github_token#1]"
    assert second == "password=[MASKED:password#2] password=[MASKED:password#1]"


def test_count_says_how_many_were_replaced():
    assert build_default_masker().mask(f"password={PASSWORD} {TOKEN}").count == 2


def test_certificates_and_addresses_are_masked_where_asked_for():
    text = f"ann@example.com\n-----BEGIN CERTIFICATE-----\n{BODY}\n-----END CERTIFICATE-----"

    assert mask(text) == text
    assert mask(text, groups=["security"]) == (
        "[MASKED:email#1]\n-----BEGIN CERTIFICATE-----\n"
        "[MASKED:certificate#1]\n-----END CERTIFICATE-----"
    )


@pytest.mark.parametrize("group", sorted(PATTERN_GROUPS))
def test_every_group_masks_named_passwords_or_cloud_keys(group):
    masked = mask(
        f"password={PASSWORD} aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        groups=[group],
    )

    assert "[MASKED:" in masked


@pytest.mark.parametrize(
    ("pattern", "text", "secret"),
    [
        ("api_key", "api_key=abcd1234efgh5678ijkl", "abcd1234efgh5678ijkl"),
        ("password", f"password: {PASSWORD}", PASSWORD),
        ("certificate", f"-----BEGIN X-----\n{BODY}\n-----END X-----", BODY),
        ("certificate_authority_data", f"certificate-authority-data: {BODY}", BODY),
        ("token", "token: abcd1234efgh5678", "abcd1234efgh5678"),
        ("email", "ann@example.com", "ann@example.com"),
        ("ssh_key", f"ssh-ed25519 {BODY}", BODY),
        ("base64_secret", f"x {ENCODED} y", ENCODED),
        ("base64_short", "a: c3ZjX3VzZXI= ", "c3ZjX3VzZXI="),
        ("private_key", f"private_key={BODY}", BODY[:20]),
        ("secret_key", "secret_key=abcd1234efgh5678", "abcd1234efgh5678"),
        ("aws_access_key", "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("aws_secret_key", "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXA", "wJalrXUt"),
        ("github_token", TOKEN, TOKEN),
        ("slack_token", "xoxb-123456789012-EVctK1izQ7oF", "xoxb-123456789012"),
        ("kubernetes_secret", SECRET_YAML, ENCODED),
    ],
)
def test_each_pattern_of_the_configuration_works_alone(pattern, text, secret):
    assert secret not in mask(text, groups=[], patterns=[pattern])
    assert mask("nothing to see", groups=[], patterns=[pattern]) == "nothing to see"


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="known are all, basic"):
        build_masker(["secure"])
    with pytest.raises(ValueError, match="there is no pattern 'passwords'"):
        build_masker([], ["passwords"])


@pytest.mark.parametrize(
    ("pattern", "replacement", "text", "expected"),
    [
        (r"case-(\d+)", "case-[n]", "see case-47", "see case-[n]"),
        (r"(id)=(?P<v>\w+)", "$1=<${v}>!", "id=7a", "id=<7a>!"),
        (r"(?i)ssn", "[SSN]", "SSN", "[custom#1]"),
        (r"x", "xx", "x", "[custom#1]"),
        (r'"ssn":\s*"\d+"', '"ssn": "gone"', '{"ssn": "123", "a": 1}', '{"ssn": "gone", "a": 1}'),
        (r"a(b)", '"$1"', '{"k": "ab"}', '{"k": "\\"b\\""}'),
    ],
)
def test_own_pattern_replaces_as_it_says_unless_that_would_never_end(
    pattern, replacement, text, expected
):
    masked = mask(text, groups=[], custom_patterns=[CustomPattern(pattern, replacement)])

    assert masked.replace("MASKED:", "") == expected


def test_a_text_within_brackets_stays_one_text():
    masked = yaml.safe_load(mask(f"run: [a, token={TOKEN}, c]"))

    assert masked == {"run": ["a", "token=[MASKED:github_token#1]", "c"]}


def test_own_pattern_leaves_alone_what_is_masked_already():
    own = [CustomPattern(r"login=\S+", "login=hidden")]

    assert mask(f"login={TOKEN}", custom_patterns=own) == "login=hidden"
    assert mask("login=[MASKED:token#3]", custom_patterns=own) == "login=[MASKED:token#3]"


def test_secrets_that_overlap_go_together():
    first, second = Span(0, 5, "password"), Span(3, 9, "github_token")

    assert merge_spans([second, first]) == [Span(0, 9, "password")]


def test_counting_goes_on_behind_the_numbers_that_others_gave():
    masker = build_default_masker(Placeholders(after=3))

    assert masker.mask(f"password={PASSWORD}").text == "password=[MASKED:password#4]"


@pytest.mark.parametrize("pattern", ["(?=x)", "(", "a{2000}", "x" * 501])
def test_own_pattern_that_re2_cannot_run_is_refused(pattern):
    with pytest.raises(PatternError):
        compile_custom(pattern, "y")


def test_alert_is_kept_when_masking_fails(monkeypatch, caplog):
    def fail(self, text):
        raise RuntimeError("no memory")

    monkeypatch.setattr(Masker, "mask", fail)

    assert build_default_masker().mask_alert("password=x").text == "password=x"
    assert "kept unmasked" in caplog.text


def test_json_values_are_masked_by_their_names():
    value: JSON = {
        "password": PASSWORD,
        "items": [{"name": "API_TOKEN", "value": "abcd1234efgh"}, 3.5],
    }

    assert build_default_masker().mask_json(value) == {
        "password": "[MASKED:password#1]",
        "items": [{"name": "API_TOKEN", "value": "[MASKED:token#1]"}, 3.5],
    }


SECRETS = st.sampled_from([PASSWORD, TOKEN, ENCODED, "abcd1234efgh5678", BODY, "s3cr3t", "$VAR"])
NAMES = st.sampled_from(["password", "apiKey", "DB_TOKEN", "secret", "name", "kind", "data", "x"])
FRAGMENTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["password=", "token: ", '"secret": "', "'", '"', "\\", "\n", " - ", "kind: Secret\n",
         "data:\n  ", "{", "}", "[", "]", "://a:", "@h", "Bearer ", "%3A", "\\u003d", "\\n",
         "[MASKED:password#1]", "[MASKED:", "#", "-----BEGIN RSA PRIVATE KEY-----\n", "...",
         "\u200b", "\x00", "\ud800", "Cookie: sid="]
    ),
    SECRETS,
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS, max_size=14).map("".join)
DOCUMENTS = st.recursive(
    SECRETS | TEXTS | st.none() | st.booleans() | st.integers(0, 10**12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXTS, inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize("hostile", ["token=", "token=a\U0001f600", "api_key:=", "pw:"])
def test_names_within_values_within_names_are_judged_at_most_twice_and_then_all_go(
    hostile, monkeypatch
):
    judged: list[int] = []

    def judge(name, value, key=""):
        judged.append(len(value))
        return is_secret_value(name, value, key)

    monkeypatch.setattr(assignments, "is_secret_value", judge)
    line = hostile * 20_000

    spans = list(assignments.find_assignments(line, Budget(hits=10**6)))

    assert sum(judged) <= 2 * len(line) + 4_096
    assert spans[-1].end >= len(line.rstrip(":;"))


@given(TEXTS)
def test_masking_what_is_masked_changes_nothing(text):
    once = mask(text, groups=["all"])

    assert mask(once, groups=["all"]) == once


@given(DOCUMENTS, st.booleans())
def test_valid_json_stays_valid_and_keeps_its_shape(document, is_ascii):
    text = json.dumps(document, ensure_ascii=is_ascii)

    masked = json.loads(mask(text)) if text[0] in "[{" else document

    assert _shape(masked) == _shape(document)


# As operators write it: names, secrets, lists, texts of several words and lines.
PLAIN = st.text(st.sampled_from("abc xyz-_./:#'\"0123,[]{}&*!|>%@`\n"), max_size=20)
SETTINGS = st.recursive(
    SECRETS | PLAIN | st.none() | st.booleans() | st.integers(0, 10**12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            NAMES | st.sampled_from(["passwords", "tokens"]) | PLAIN, inner, max_size=4
        )
    ),
    max_leaves=10,
).filter(lambda document: isinstance(document, dict | list))


# An empty text within a secret.
@example({"password": {"apiKey": PASSWORD, "": PASSWORD, "password": PASSWORD}}, None, 40)
@given(SETTINGS, st.sampled_from([None, True, False]), st.sampled_from([40, 80, 10_000]))
def test_valid_yaml_stays_valid_and_keeps_its_shape(document, flow, width):
    text = yaml.safe_dump(document, default_flow_style=flow, width=width)

    masked = yaml.safe_load(mask(text))

    assert _shape(masked) == _shape(yaml.safe_load(text))


def _shape(value):
    """Lists and objects alone: any leaf may become a placeholder, and so may a key."""
    if isinstance(value, dict):
        return [_shape(item) for item in value.values()]
    if isinstance(value, list):
        return [_shape(item) for item in value]
    return None


@given(TEXTS)
@example("Password=0\\")
def test_lines_without_secrets_keep_their_place(text):
    # A backslash goes on with a line on the next one, here an empty one.
    between = "\n\n" if text.endswith("\\") else "\n"

    masked = build_default_masker().mask(f"first\n{text}{between}last")

    assert masked.text.startswith("first\n")
    assert masked.text.endswith("\nlast")


def test_what_a_backslash_continues_is_masked_on_both_lines():
    masked = build_default_masker().mask("Password=hunter\\\n2abc\nlast").text

    assert masked == "Password=[MASKED:password#1]\\\n[MASKED:password#2]\nlast"


def test_a_list_of_secrets_that_is_cut_behind_a_mark_is_read():
    masked = build_default_masker().mask("passwords:\n  - hunter2abc\n  - ").text

    assert "hunter2abc" not in masked
    assert masked.endswith("\n  - ")
