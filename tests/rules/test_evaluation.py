"""Templates of packs, filled with what was found."""

from datetime import UTC, datetime

import pytest

from config.schema.expressions import split_conjunction, split_disjunction, words_in
from rules.documents import Reply
from rules.evaluation import Scope
from rules.functions import workload

TOLD = "It ends{{it.code > 0 ? ' with exit code ' + string(int(it.code)) : ''}}."


def tell(template: str, **it: object) -> str:
    return Scope({"it": it}, datetime(2026, 11, 30, tzinfo=UTC)).tell(template)


def test_a_part_that_is_there_only_sometimes_is_parted_by_its_own_blank():
    assert tell(TOLD, code=3) == "It ends with exit code 3."
    assert tell(TOLD, code=0) == "It ends."


def test_a_value_stays_on_its_line():
    assert tell("Its log ends with: {{it.line}}", line="out of\n  memory ") == (
        "Its log ends with: out of memory"
    )


def test_a_run_of_a_cron_job_and_its_pods_belong_to_the_cron_job():
    assert workload("", "export-29408000") == "export"
    assert workload("", "export-29408000-p8z2m") == "export"
    assert workload("", "db-0") == "db"


def test_rows_that_are_alike_but_for_a_kind_of_value_are_not_taken_for_each_other():
    scope = Scope({}, datetime(2026, 11, 30, tzinfo=UTC))
    values: list[object] = []
    for closed in (1.0, True, 1.0):
        scope.bind("it", {"closed": closed})
        values.append(scope.evaluate("it.closed == true"))

    assert values == [False, True, False]


def test_an_expression_sees_a_row_as_it_is_now_and_no_more_of_it_than_it_reads():
    scope = Scope({}, datetime(2026, 11, 30, tzinfo=UTC))
    row: dict[str, object] = {"name": "a", "_call": 1.0}
    with scope.reading(frozenset({"name"})):
        scope.bind("it", row)
        assert scope.evaluate('it.name + "!"') == "a!"
        row["name"] = "b"
        scope.bind("it", row)

        assert scope.evaluate('it.name + "!"') == "b!"


def test_a_field_whose_name_is_no_word_is_read_by_its_subscript():
    condition = 'it["first-seen"] == 3.0'
    scope = Scope({}, datetime(2026, 11, 30, tzinfo=UTC))
    with scope.reading(words_in([condition])):
        scope.bind("it", {"first-seen": 3.0, "_call": 1.0})

        assert scope.evaluate(condition) is True


@pytest.mark.parametrize(
    ("condition", "parts"),
    [
        ("a && b", ("a", "b")),
        ("a && (b || c) && d", ("a", "(b || c)", "d")),
        ("a || b && c", ("a || b && c",)),
        ('a == "x && y" && b', ('a == "x && y"', "b")),
        ("a && b ? c : d", ("a && b ? c : d",)),
        ("a // b && c", ("a // b && c",)),
        ('a == r"x\\" && b', ('a == r"x\\" && b',)),
    ],
)
def test_a_condition_is_parted_only_where_every_part_has_to_be_true(condition, parts):
    assert split_conjunction(condition) == parts


@pytest.mark.parametrize(
    ("condition", "parts"),
    [
        ("a || b", ("a", "b")),
        ("a && b || (c || d)", ("a && b", "(c || d)")),
        ("a ? b : c || d", ("a ? b : c || d",)),
        ('a == "x || y" || b', ('a == "x || y"', "b")),
    ],
)
def test_a_condition_is_parted_where_one_part_is_enough(condition, parts):
    assert split_disjunction(condition) == parts


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ('it.line.matches("^a.c$")', True),
        ('it.line.matches("b") && !it.line.matches("(?i)X")', True),
        ("it.line . matches('B')", False),
        ('it.line == "a.matches(b"', False),
        ('it.line.matches("(")', False),
        ('it.number.matches("1")', False),
        ('!it.number.matches("1")', False),
        ('it.line.matches("abc") || it.number.matches("1")', True),
        (r'it.line.matches(r"^\w+$")', True),
    ],
)
def test_a_pattern_matches_a_text_and_neither_holds_nor_fails_to_where_either_is_none(
    condition, holds
):
    scope = Scope({}, datetime(2026, 11, 30, tzinfo=UTC))
    scope.bind("it", {"line": "abc", "number": 1.0})

    assert scope.holds(condition) is holds


def test_a_log_of_json_lines_is_text_and_one_object_with_a_note_behind_it_is_a_document():
    lines = '{"level":"info"}\n{"level":"error"}\n'

    assert Reply("logs", 1, lines).text == lines
    assert Reply("logs", 1, "[1] the limit is too low\n").text == "[1] the limit is too low\n"
    assert Reply("logs", 1, '{"level": "fatal", "msg": "the end"}').text.endswith('"the end"}')
    assert Reply("pods", 1, '{"pods": [], "total": 0}').text == ""
    assert Reply("pods", 1, '{"items": []}\n[truncated: showing 9 of 90 bytes]').document == {
        "items": []
    }


@pytest.mark.parametrize(
    ("data", "is_empty"),
    [
        ('{"exit_code": 0, "stdout": "", "stderr": "No resources found"}', True),
        ('{"exit_code": 0, "stdout": "NAME\\nweb", "stderr": ""}', False),
        ('{"pods": [], "total": 0}', False),
    ],
)
def test_a_program_that_has_nothing_to_list_answers_that_there_is_nothing(data, is_empty):
    assert Reply("jobs", 1, f'{{"ok": true, "data": {data}}}').is_empty is is_empty


def test_the_log_within_an_answer_of_a_server_is_its_text():
    assert Reply("logs", 1, '{"name": "web-0", "logs": "started\\n"}').text == "started\n"


@pytest.mark.parametrize(
    "call",
    ["workload(it.owner, it.name)", 'workload("", it.name)', "number(it.share)", "unique(it.names)",
     'pick("^(.*)-", it.name)', "lower(it.gone)"],
)  # fmt: skip
def test_one_call_over_fields_is_what_the_library_makes_of_it(call):
    scope = Scope({}, datetime(2026, 11, 30, tzinfo=UTC))
    scope.bind(
        "it",
        {"owner": "Job/a", "name": "web-6d4cf56db6-7kx2p", "share": "12 %", "names": ["a", "a"]},
    )

    assert scope.evaluate(call) == scope.evaluate(f"({call})")
