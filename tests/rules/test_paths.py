"""Expressions that are compiled into functions find what the library finds, mistakes included."""

import jmespath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jmespath.exceptions import JMESPathError

from config.pack_files import read_built_in_packs
from rules.paths import search

leaves = st.none() | st.booleans() | st.sampled_from([0, 1, 2, 0.0, 1.5, "", "a", "b", "true"])
documents = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
    ),
    max_leaves=12,
)
ENDS = ["a", "b", "c", "@", "`0`", "`1`", "`[]`", "`true`", "`null`", "'a'", '`""`', "*", "a[1:]"]


def combine(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    forms = st.sampled_from([
        "{}.a", "{}.b.c", "{}[0]", "{}[-1]", "{}[2]", "({})[]", "{}[*]", "{}[].a", "{}[*].b[]",
        "{} || {}", "{} && {}", "!({})", "{} | {}", "({} | [0])", "[{}, {}]", "[{}, {}][]",
        "({})[?a]", "({})[?a == {}]", "({})[?{} != `1`].b", "({})[?a > `0`]", "{} == {}",
        "{} < {}", "length({})", "sum({})", "max({})", "sum(({} || `[]`)[].a)", "length({}, {})",
        "length(({} || `[]`)[?a==`false`])", "max_by({}, &a)", "to_string({})", "join('/', {})",
        "{{a: {}, b: {}}}", "sort({})",
    ])  # fmt: skip
    return st.builds(lambda form, a, b: form.format(a, b), forms, parts, parts)


expressions = st.recursive(st.sampled_from(ENDS), combine, max_leaves=5)


def ask_library(source: str, document: object) -> object:
    try:
        return jmespath.search(source, document)
    except (JMESPathError, RecursionError, TypeError):
        return None


@given(source=expressions, document=documents)
@example(source="a || b", document={"a": 0, "b": 1})
@example(source="a == `true`", document={"a": 1})
@example(source="sum(a)", document={"a": [1, True]})
@example(source="sum(a)", document={"a": []})
@example(source="length(a)", document={"a": "é"})
@example(source="[a, b][]", document={"a": [1, [2]], "b": None})
@example(source="a[?b].b", document={"a": [{"b": 0}, {"b": ""}, {"b": False}]})
@example(source="`0` < 'a'", document=None)
@example(source="a[-3]", document={"a": [1, 2]})
def test_an_expression_finds_what_the_library_finds(source, document):
    found, known = search(source, document), ask_library(source, document)

    assert (type(found), repr(found)) == (type(known), repr(known))


@given(document=documents)
def test_what_the_packs_that_ship_ask_for_is_found_as_by_the_library(document):
    nested = {"status": document, "spec": document, "metadata": document, "containers": document}

    for source in _paths_of_packs():
        for asked in (document, nested):
            assert repr(search(source, asked)) == repr(ask_library(source, asked)), source


def _paths_of_packs() -> set[str]:
    return {
        source
        for pack in read_built_in_packs()
        for fact in pack.facts.values()
        for form in fact.forms
        for source in (form.rows, form.each, *form.fields.values())
        if source is not None and form.rows is not None
    }


@pytest.mark.parametrize("source", ["a[", "nothing(a)", "", "(" * 5_000])
def test_what_is_no_expression_finds_nothing(source):
    assert search(source, {"a": 1}) is None
