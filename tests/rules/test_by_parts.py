"""Conditions by their parts are what the library makes of them, mistakes included."""

from collections.abc import Mapping
from datetime import UTC, datetime

import cel
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from config.schema.expressions import compile_condition
from rules.by_parts import compile_parts
from rules.evaluation import MISSING, Scope
from rules.functions import make_functions

NOW = datetime(2026, 11, 30, tzinfo=UTC)

texts = st.sampled_from(["", "a", "ab", "B", "é", "5m", "3 of 4", "x-6d4cf56db6-7kx2p"]) | st.text(
    max_size=3
)
plain = texts | st.booleans() | st.floats() | st.integers(-(2**53), 2**53)
anything = plain | st.none() | st.lists(plain, max_size=2)
rows = st.dictionaries(st.sampled_from(["a", "b", "c"]), anything)
operands = st.sampled_from([
    "it.a", "it.b", "it.c", "alert.text", "told", "gone", "now", "true", "false", "null", '""',
    "'a'", r'"\x61\n"', "0", "1", "-1.0", "2.5", "9007199254740993", "2u", 'r"a"', "[]",
    '"//"', r'"\\b"', '" r"', '"""a"""', "'(' // '", '"a" // "',
])  # fmt: skip


def combine(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def fill(*forms: str) -> st.SearchStrategy[str]:
        form = st.sampled_from(forms)
        return st.builds(lambda form, a, b, c: form.format(a, b, c), form, parts, parts, parts)

    known = fill(
        "{} && {}", "{} || {}", "{} && {} || {}", "{} || {} && {}", "!{}", "({})", "!({})",
        "{} ? {} : {}", "({}) ? ({}) : {}", "{} == {}", "{} != {}", "{} < {}", "({}) >= {}",
        "{} > {}", "{} <= ({})", '{} in ["a", "ab"]', "({}) in []", "{}.contains({})",
        "{}.startsWith({})", "({}).endsWith({})", '{}.matches("^a")', "{}.matches({})",
        "size({})", "number({})", "lower({})", "pick('[a-z]+', {})", "workload({}, {})",
        "near({}, {}, {})", "since({})",
    )  # fmt: skip
    other = fill(
        "{} + {}", "{} - {}", "-{}", "{} == {} == {}", "string({})", "[{}, {}][0]", "{} in {}",
        "{} in [1.0, {}]", "['a', 'b'].exists(each, each == {})", "{{'a': {}}}.a", "unique([{}])",
        "{}.size()", "{}.lower()", "first([{}, {}]) == {}", "it['a'] == {}", "has(it.a) && {}",
    )  # fmt: skip
    return known | known | other


expressions = st.recursive(operands, combine, max_leaves=6)


def ask_library(source: str, values: Mapping[str, object]) -> object:
    try:
        context = cel.Context(dict(values), make_functions(NOW))
        return compile_condition(source).execute(context)
    except Exception:
        return MISSING


@given(source=expressions, listed=st.lists(rows, min_size=1, max_size=3), told=anything)
@example(source="it.a == 1.0 && it.b || it.c", listed=[{"a": True}], told="")
@example(source="it.a < it.b", listed=[{"a": float("nan"), "b": 1.0}], told="")
@example(source="size(it.a) > 1", listed=[{"a": "é"}], told="")
@example(source="it.a == 9007199254740993", listed=[{"a": 9007199254740992.0}], told="")
@example(source="it.a || it.b", listed=[{"a": 0.0, "b": True}], told="")
@example(source="it.a && it.b", listed=[{"a": 1.0, "b": True}], told="")
@example(source="it.a ? 1.0 : 2.0", listed=[{"a": 1.0}], told="")
@example(
    source='!it.a.startsWith("https://") && it.b == "443"', listed=[{"a": "a", "b": ""}], told=""
)
@example(source=r'!it.a.matches("\\bretry\\b") && it.b', listed=[{"a": "a", "b": False}], told="")
@example(source='it.b ? "https://" : it.a.contains("x")', listed=[{"a": "", "b": True}], told="")
@example(source='"//" + it.a.contains("x")', listed=[{"a": "x"}], told="")
@example(source="lower(it.a)", listed=[{"a": True}, {"a": 1}, {"a": 1.0}], told="")
def test_an_expression_is_what_the_library_makes_of_it(source, listed, told):
    try:
        compile_condition(source)
    except ValueError:
        return
    alert: Mapping[str, object] = {"text": "ab"}
    scope = Scope({"alert": alert}, NOW)
    scope.bind("told", told)

    for row in listed:
        scope.bind("it", row)
        found = scope.evaluate(source)

        known = ask_library(source, {"alert": alert, "now": NOW, "told": told, "it": row})
        assert (type(found), repr(found)) == (type(known), repr(known))


@pytest.mark.parametrize(
    "source",
    [
        'it.pod != "" ? it.pod : it.name',
        '(alert.pod != "" && it.name == alert.pod) || size(it.workload) > 2',
        '!(it.status in ["Running", "Completed"]) || it.restarts >= 3',
        r'it.is_well && !alert.text.contains(it.family) ? "" : pick("^(.*)-[a-z]{5}$", it.name)',
        'it.age > since(now) + 3600.0',
    ],
)  # fmt: skip
def test_what_is_asked_of_every_row_does_not_ask_the_library_for_each(source):
    scope = Scope({"alert": {"pod": "", "text": ""}}, NOW)
    read = compile_parts(source)
    assert read is not None

    for number in range(3):
        scope.bind("it", {"pod": "", "name": f"a-{number}", "status": "Running", "workload": "",
                          "restarts": 0.0, "is_well": True, "family": "", "age": 1.0})  # fmt: skip

        assert read(scope) == ask_library(source, scope.values)


def test_what_goes_too_deep_is_left_to_the_library_as_a_whole():
    deep = "".join(f'it.k == "{number}" ? "v" : ' for number in range(41)) + "other.name"
    scope = Scope({}, NOW)
    scope.bind("other", {"name": "known to the library"})
    scope.evaluate('other.name + ""')

    for name in ("one", "two", "three"):
        scope.bind("it", {"k": "none", "name": name})
        scope.bind("other", {"name": name})
        assert scope.evaluate(deep) == name


@pytest.mark.parametrize(
    "source",
    [
        "it.names.filter(each, each != '')",
        "a == b == c",
        "it.a + it.b",
        "it.?a ? b : c",
        "[it.a]",
        '!it.a // "',
    ],
)
def test_what_has_another_form_is_left_to_the_library(source):
    assert compile_parts(source) is None
