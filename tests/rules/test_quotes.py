"""What rules quote: the part of a result that has the figures and names of the sentence."""

import json
from collections.abc import Sequence

from agents.citations import find_citations
from config.schema.packs import ExampleConfig
from rules.examples import find_in_example
from rules.findings import Cited, Finding
from rules.quotes import LONGEST, find_passage, find_quote, holds
from rules.ranking import Cause, Ranked
from rules.report import Told, write_report
from tests.rules.worlds import built_in_packs

CLIENTS = [
    {"application": name, "state": state, "connections": count, "last_query": f"SELECT {name}"}
    for name, state, count in [
        ("worker", "idle", 8), ("web", "idle in transaction", 8), ("web", "active", 2),
    ]
]  # fmt: skip
RAW = json.dumps({"ok": True, "store": {"open_files": 8, "clients": CLIENTS}})


def _find(wanted: Sequence[object], row: dict[str, object]) -> str:
    return find_passage(RAW, wanted, [*wanted, row["state"]], row)


def test_of_equal_figures_that_of_the_row_is_quoted_with_the_name_beside_it():
    for client in CLIENTS:
        quote = _find([float(client["connections"])], client)

        assert quote in RAW
        assert f'"state": "{client["state"]}", "connections": {client["connections"]}' in quote
        assert len(quote) <= LONGEST


def test_what_was_told_of_two_fields_is_quoted_by_the_longer_one():
    raw = (
        '{"caller":"internal/server/start_everything.go:142","msg":"cannot start","err":"no rate"}'
    )

    assert find_quote(raw, "cannot start: no rate") == "cannot start"


def _quote_of_log(log: str) -> Sequence[str]:
    (pack,) = (each for each in built_in_packs() if each.name == "docker")
    web = {"name": "web", "image": "web:1", "state": "exited", "status": "Exited (1)"}
    state = {"status": "exited", "exit_code": 1, "error": "", "oomkilled": False}
    data = {
        "containers": {"containers": [web]},
        "states": {"name": "web", "state": state, "restart_count": 0},
        "logs": {"container": "web", "content": log},
    }
    answers = {name: json.dumps({"ok": True, "data": each}) for name, each in data.items()}
    example = ExampleConfig.model_validate(
        {"answers": answers, "says": ["web"], "alert": {"container": "web"}}
    )
    return [
        cited.quote
        for each in find_in_example(pack, "ends_again_and_again", example)
        for cited in each.cites
    ]


def test_a_message_is_quoted_by_its_own_parts_and_by_no_other_field_or_line():
    long = "a-very-long-version-string-of-the-build-of-the-last-day-of-november"
    quotes = _quote_of_log(
        f'{{"level":"info","msg":"starting","version":"{long}"}}\n'
        f'{{"level":"fatal","at":"{long}.go:142","msg":"cannot start","err":"no rate for XAU"}}\n'
    )

    assert "no rate for XAU" in quotes
    assert not any(long in quote for quote in quotes)


def test_a_message_over_lines_is_quoted_by_the_longest_of_them():
    quotes = _quote_of_log(
        "2026-11-30 11:58:02 [error] <0.9.0> closing:\nmissed heartbeats, timeout: 60 seconds\n"
    )

    assert "missed heartbeats, timeout: 60 seconds" in quotes
    assert "error" not in quotes


def test_a_figure_that_was_only_computed_is_not_found_in_another_one():
    assert _find([60.0], CLIENTS[0]) == ""
    assert not holds("18 of 80, at 0.8 or 8.1, web-8", 8.0)
    assert holds('"connections": 8, "left": 0', 8.0)
    assert holds("99.87 %", 99.87)


def test_a_short_line_is_quoted_whole_and_a_long_one_around_the_figure():
    line = "shop/web-1   0/1   CrashLoopBackOff   14 (2m ago)"
    row = {"name": "shop/web-1", "restarts": 14.0}
    assert find_passage(f"NAME READY\n{line}\nshop/b 1/1 14", [14.0], [14.0], row) == line

    long = f"{'x ' * 400}, restarts=14 of shop/web-1, {'y ' * 400}"
    assert find_passage(long, [14.0], [14.0], row) == "restarts=14 of shop/web-1"


def test_the_name_of_a_list_is_no_part_of_a_quote_that_ends_before_the_list():
    raw = '{"name": "web", "replicas": 3, "images": ["a", "b"]}'

    assert find_passage(raw, [3.0], [3.0], {"name": "web"}) == '"name": "web", "replicas": 3'


def test_a_text_that_is_quoted_whole_is_quoted_without_its_marks():
    raw = '{"problems": ["holds 99 of 100 bytes"], "used": {"percent": 99}}'

    assert find_passage(raw, [100.0], [99.0, 100.0], {"limit": 100.0}) == "holds 99 of 100 bytes"


def test_a_result_without_the_row_or_with_nothing_in_it_gives_no_quote():
    assert find_passage("", [8.0], [8.0], CLIENTS[0]) == ""
    assert find_passage("[8]", [8.0], [8.0], {"name": "not there"}) == ""


def test_a_claim_of_the_packs_quotes_its_figure_first():
    (pack,) = (each for each in built_in_packs() if each.name == "services")
    rule = "keeps_its_connections"
    (finding,) = find_in_example(pack, rule, pack.rules[rule].examples[0])

    assert "10 of them are `idle in transaction`" in finding.says
    first = finding.cites[0].quote
    assert '"state": "idle in transaction", "connections": 10' in first


def test_a_quote_with_marks_and_escapes_is_read_back_from_the_report_as_it_is():
    quotes = ['"a", "b": 8', '{\\"order\\": 26}', "plain, without", '"ends\\n"']
    cites = tuple(Cited(number, quote) for number, quote in enumerate(quotes, 1))
    finding = Finding("p.r", "It is full", "unit:a", "cause", "critical", "certain", cites=cites)

    report = write_report(Told(Ranked((Cause(finding, (), (), 0),), ())))

    _, _, evidence = report.partition("## Evidence")
    refs = [ref for each in find_citations(evidence) for ref in each.refs]
    assert [(ref.number, ref.quote) for ref in refs] == list(enumerate(quotes, 1))
