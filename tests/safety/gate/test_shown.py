"""What a person is shown of a write holds all of its syntax, or nobody is asked about it."""

import re
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masking import PLACEHOLDER, build_masker
from safety.gate.approval import visibility
from tests.cases import for_each
from tests.server_plans import CustomPattern

SECRET = "hunter2Secret99x"
ACTS = [
    "$(rm -rf /srv)", "`reboot`", "${IFS}", "';DROP", "\"; drop", "&&reboot", "|sh", ">x", "\\x",
    "\nreboot", "\treboot", "\u200b", "\u202e", "@evil.example", "?x=1", "#", "%0a", "*", "é",
]  # fmt: skip
FORMS = ["mysql -p{}", "PASSWORD={}", "curl -u root:{} x", "-H 'X: {}'"]


def show(arguments: dict[str, Any], **options: Any) -> dict[str, Any]:
    masked = build_masker(**options).mask_json(arguments)
    assert isinstance(masked, dict)
    return masked


def find_hidden(arguments: dict[str, Any], seen: dict[str, Any]) -> str:
    return visibility.find_hidden(arguments, seen, PLACEHOLDER)


def hide(text: str, start: int, end: int) -> str:
    return f"{text[:start]}[MASKED:password#1]{text[end:]}"


@for_each(list(product(ACTS, FORMS)))
def test_no_placeholder_stands_for_syntax(case: tuple[str, str]):
    act, form = case
    value = form.format(SECRET + act + SECRET)
    start, end = form.index("{"), form.index("{") + len(SECRET + act + SECRET)

    assert find_hidden({"command": value}, {"command": hide(value, start, end)}) == "command"


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": f"mysql -p{SECRET} -e status"},
        {"content": f"user: app\npassword: {SECRET}\nport: 5432\n"},
        {"url": f"https://app:{SECRET}@db.example.com/x"},
        {"env": {"DB_PASSWORD": SECRET, "n": 3}, "args": ["--token", "ghp_" + "a1B2" * 9]},
        {"password": 12345678, "force": True, "note": None},
        {"name": "web-7"},
    ],
    ids=lambda each: next(iter(each)),
)
def test_a_plain_secret_is_masked_and_asked_about(arguments):
    assert find_hidden(arguments, show(arguments)) == ""


def test_the_masked_password_of_a_shell_line_does_not_hide_what_follows_it():
    value = {"command": "mysql -pX9aa77$(rm${IFS}-rf${IFS}/srv)zz status"}

    shown = show(value)

    assert "$(rm" in str(shown) or find_hidden(value, shown) == "command"


def test_an_operators_own_replacement_hides_no_syntax_either():
    rules = [CustomPattern(r"-p\S+", "-p[PW]")]

    plain, act = {"command": f"mysql -p{SECRET}"}, {"command": f"mysql -p{SECRET}$(reboot)"}

    assert find_hidden(plain, show(plain, custom_patterns=rules)) == ""
    assert find_hidden(act, show(act, custom_patterns=rules)) == "command"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": ["x", "y"]}, {"a": "[MASKED:x#1]"}),
        ({"a": {"b": "x"}}, {"a": "[MASKED:x#1]"}),
        ({"a": ["x", "y"]}, {"a": ["[MASKED:x#1]"]}),
        ({"a b": "x"}, {"[MASKED:x#1]": "x"}),
        ({"a": "x", "b": "y"}, {"a": "x"}),
        ({"url": "https://evil.example:x/@good.example/"},
         {"url": "https://evil.example:[MASKED:x#1]@good.example/"}),
    ],
    ids=["a list", "a map", "an item", "a name", "an argument", "the end of a host"],
)  # fmt: skip
def test_nothing_of_the_arguments_is_left_out(value, shown):
    assert find_hidden(value, shown) != ""


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_whatever_stands_behind_a_placeholder_is_plain(text, one, other):
    start, end = sorted((min(one, len(text)), min(other, len(text))))

    is_seen = find_hidden({"a": text}, {"a": hide(text, start, end)}) == ""

    around = text[:start] + text[end:]
    if is_seen and not PLACEHOLDER.search(text) and "[" not in around and "]" not in around:
        assert re.fullmatch(r"[A-Za-z0-9_.+~=/-]*", text[start:end])
