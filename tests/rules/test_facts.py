"""Facts, which are read again whenever another answer comes."""

from datetime import UTC, datetime

from config.schema.packs import FactConfig, LookConfig, PackConfig
from rules.documents import Reply
from rules.evaluation import Scope
from rules.facts import FactBook

NOW = datetime(2026, 11, 30, tzinfo=UTC)
ROWS = {
    "rows": "rows[]",
    "fields": {"name": "name", "state": "state.now", "told": "a.told || b.told", "no": "no"},
}


def make_book(**facts: object) -> FactBook:
    pack = PackConfig(
        pack="lamps",
        about="lamps",
        looks={"first": LookConfig(way="ask"), "second": LookConfig(way="ask")},
        facts={name: FactConfig.model_validate(fact) for name, fact in facts.items()},
        rules={},
    )
    return FactBook(pack, Scope({}, NOW))


def test_a_row_takes_what_it_lacks_from_each_answer_and_keeps_nothing_of_one_that_is_read_anew():
    book = make_book(lamps={"looks": ["first", "second"], "forms": [ROWS], "key": ["name"]})
    book.add(Reply("second", 1, '{"rows": [{"name": "a", "state": {"now": "off"}}]}'))
    assert [row["state"] for row in book.find("lamps").rows] == ["off"]

    book.add(Reply("first", 2, '{"rows": [{"name": "a", "state": {"now": "on"}}]}'))
    book.add(Reply("first", 3, '{"rows": [{"name": "b"}]}'))

    found = book.find("lamps")
    assert [(row["name"], row["state"]) for row in found.rows] == [("a", "on"), ("b", "")]
    assert found.calls == (2, 3, 1)


def test_a_field_is_found_by_the_names_that_lead_to_it_and_empty_where_one_is_missing():
    book = make_book(lamps={"looks": ["first"], "forms": [ROWS], "numbers": ["no"]})
    book.add(
        Reply(
            "first",
            1,
            '{"rows": [{"name": "a", "state": "on", "b": {"told": "x"}, "no": 0},'
            ' {"name": "b", "state": {"now": false}, "a": {"told": ""}, "b": {"told": 3}}]}',
        )
    )

    first, second = book.find("lamps").rows
    assert (first["state"], first["told"], first["no"]) == ("", "x", 0.0)
    assert (second["state"], second["told"], second["no"]) == (False, 3.0, -1.0)


def test_rows_stay_by_what_they_are_or_by_what_other_facts_know_of_them():
    book = make_book(
        lamps={"looks": ["first"], "forms": [ROWS]},
        lit={"of": ["lamps"], "where": "it.state == 'on'"},
        meant={
            "of": ["lamps"],
            "join": {"lit": {"fact": "lit", "on": {"told": "name"}}},
            "where": "it.name == 'a' || size(lit) > 0",
        },
    )
    book.add(
        Reply(
            "first",
            1,
            '{"rows": [{"name": "a"}, {"name": "b"}, {"name": "c"},'
            ' {"name": "d", "state": {"now": "on"}, "a": {"told": "b"}}]}',
        )
    )

    assert [row["name"] for row in book.find("meant").rows] == ["a", "b"]


def test_a_row_is_chosen_by_what_it_is_and_by_what_it_gains():
    book = make_book(
        lamps={"looks": ["first"], "forms": [ROWS], "numbers": ["no"]},
        chosen={
            "of": ["lamps"],
            "where": "it.state == 'on' && it.no > 0.0 && it.called == 'lamp b'",
            "add": {"called": "'lamp ' + it.name"},
        },
    )
    book.add(
        Reply(
            "first",
            1,
            '{"rows": [{"name": "a", "state": {"now": "on"}, "no": 1}, {"name": "b", "no": 1},'
            ' {"name": "b", "state": {"now": "on"}, "no": 2}, {"name": "b", "no": 0}]}',
        )
    )

    assert [(row["called"], row["no"]) for row in book.find("chosen").rows] == [("lamp b", 2.0)]
    assert all("called" not in row for row in book.find("lamps").rows)
