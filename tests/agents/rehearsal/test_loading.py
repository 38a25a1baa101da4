import pytest

from agents.rehearsal.loading import BUILTIN_SCRIPT, load_script, parse_script
from tarsy.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 0, "is empty"),
        ("rules: [", 1, "is no valid YAML"),
        ("rules: []", 1, "rules"),
        ("just text", 1, "valid dictionary"),
        ("rules:\n  - reply:\n      txt: hi", 3, "did you mean `text`?"),
        ("rules:\n  - wen: {}\n    reply: {text: hi}", 2, "did you mean `when`?"),
        ("- when: {agent: '('}\n  reply: {text: hi}", 1, "valid regular expression"),
        ("- when:\n    turn: later\n  reply: {text: hi}", 2, "write a number (0), a range (1-3)"),
        ("- reply:\n    text: '{{ oops'", 2, "is no valid template"),
        ("- when: {}", 1, "rules[0].reply: is missing"),
        ("- reply: {}", 1, "says nothing"),
        ("- reply: {text: hi, hang: true}", 1, "`hang` comes instead of an answer; remove text"),
        ("- reply: {error: {status: 200}}", 1, "greater than or equal to 400"),
        ("- reply: {text: hi, hold_after: 2}", 1, "needs `hold: NAME`"),
        ("- reply: {text: hi, chunk_delay: 1, tokens_per_second: 5}", 1, "not both"),
        ("- reply: {text: hi, delay: -1}", 1, "greater than or equal to 0"),
        ("- reply:\n    text: hi\n    text: ho", 3, "`text` is given twice"),
        ("- times: 0\n  reply: {text: hi}", 1, "greater than 0"),
    ],
)
def test_a_mistake_names_its_line_and_what_would_be_right(text, line, message):
    with pytest.raises(ConfigError) as caught:
        parse_script(text, file="demo.yaml")

    mistake = caught.value.mistakes[0]
    assert message in str(mistake)
    assert (mistake.file, mistake.line) == ("demo.yaml", line)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a0: &a0 [x, x]\n" + "".join(
            f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)), "expand to too much"),
        ("rules: &again\n  - *again", "expand to too much"),
        ("[" * 5000, "nested too deeply"),
    ],
    ids=["bomb", "endless", "deep"],
)  # fmt: skip
def test_a_document_without_bounds_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_script(text)


def test_every_mistake_is_reported_at_once():
    text = "rules:\n  - reply: {txt: hi}\n  - when: {turn: x}\n    reply: {delay: soon}"

    with pytest.raises(ConfigError) as caught:
        parse_script(text)

    assert len(caught.value.mistakes) >= 3


def test_a_missing_script_says_so(tmp_path):
    with pytest.raises(ConfigError, match="does not exist"):
        load_script(tmp_path / "none.yaml")


def test_a_script_cannot_be_changed():
    script = parse_script("[{reply: {text: hi}}]")

    with pytest.raises(ValueError, match="frozen"):
        script.rules[0].reply.text = "ho"


def test_the_built_in_script_is_valid():
    assert load_script(BUILTIN_SCRIPT).rules
