"""Packs of the operator's: read, checked, and told with file and line."""

from tests.config.conftest import changed

PACK = """\
pack: mine
about: things of mine
looks:
  a:
    ask:
      - {tool: t, arguments: {x: "{{alert.text}}"}}
facts:
  f:
    looks: [a]
    forms:
      - {pattern: '(?P<n>\\d+)'}
    numbers: [n]
rules:
  r:
    each: f
    when: it.n > 5
    says: "It is {{it.n}}"
    at: "thing:{{it.n}}"
"""


def test_a_pack_of_the_operators_is_there(check_files):
    report = check_files(packs={"mine": PACK})

    assert report.mistakes == ()
    assert "mine" in report.config.packs


def _wrong(check_files, old, new):
    assert old in PACK
    return [str(m) for m in check_files(packs={"mine": PACK.replace(old, new)}).mistakes]


def test_every_mistake_is_told_with_file_and_line(check_files):
    for old, new, told in [
        ("it.n > 5", "it.n >", "rules/mine.yaml:16: rules.r.when: is no CEL expression"),
        ("it.n > 5", "oops(it.n)", "calls oops(), which there is not"),
        ("it.n > 5", "other.n > 5", "reads 'other', which is not there"),
        ("each: f", "each: g", "rules/mine.yaml:15: rules.r.each: there is no fact 'g'"),
        ("looks: [a]", "looks: [b]", "there is no look 'b'"),
        ("(?P<n>\\d+)", "(\\d+)", "names no group"),
        ("(?P<n>\\d+)", "(?P<n>(a)\\1)", "is no RE2 expression"),
        ('{{it.n}}"\n    at', '{{it.n"\n    at', "has a {{ that no }} ends"),
        ("    when:", "    wen:", "unknown key"),
        ("about:", "abut:", "unknown key"),
    ]:
        found = _wrong(check_files, old, new)
        assert any(told in each for each in found), (new, found)


def test_an_expression_that_could_take_long_is_refused(check_files):
    deep = "(" * 60 + "1" + ")" * 60 + " == 1"
    walks = "[1].exists(a, " * 5 + "true" + ")" * 5
    for source in (deep, walks, f"'{'x' * 3000}' == ''", "!" * 500 + "true"):
        assert _wrong(
            check_files, "it.n > 5", f"{source!r}" if "'" not in source else f'"{source}"'
        )


def test_parts_that_wait_for_each_other_are_refused(check_files):
    found = _wrong(
        check_files,
        "  a:\n    ask:",
        "  a:\n    over: f\n    keep: [n]\n    ask:",
    )

    assert any("waits for itself" in each for each in found)


def test_a_fact_that_joins_itself_or_nothing_is_refused(check_files):
    for joined, told in [
        ("f", "waits for itself"),
        ("g", "f.join.other.fact: there is no fact 'g'"),
    ]:
        join = f"looks: [a]\n    join: {{other: {{fact: {joined}, on: {{n: n}}}}}}"
        found = _wrong(check_files, "looks: [a]", join)
        assert any(told in each for each in found), found


def test_an_agent_names_packs_that_are_there(check_files):
    described = "    description: Looks at the network\n"
    report = check_files(changed(described, f"{described}    type: rules\n    packs: [hots]\n"))

    assert any("there is no pack 'hots'; did you mean 'host'?" in str(m) for m in report.mistakes)
