import pytest

from investigations.rendering.plain_text import show_invisible, squeeze_lines


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain text", "plain text"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;owned\x07line", "line"),
        ("\x9b31mred", "red"),
        ("cut off \x1b[", "cut off "),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("deny\x08\x08pass", "deny[U+0008 x2]pass"),
        ("open \u202etxt.exe", "open [U+202E]txt.exe"),
        ("pass\u200bword", "pass[U+200B]word"),
        ("tag\U000e0041", "tag[U+E0041]"),
        ("de\u00adlete", "de[U+00AD]lete"),
        ("blank\u3164letter", "blank[U+3164]letter"),
    ],
)
def test_what_cannot_be_seen_is_dropped_or_spelled_out(raw, shown):
    assert show_invisible(raw) == shown


@pytest.mark.parametrize(
    "text",
    ["❤️ fine", "👩‍👧 family", "می‌خواهم", "tab\tand\nline", "naïve café"],
)
def test_characters_that_belong_to_a_script_or_an_emoji_stay(text):
    assert show_invisible(text) == text


def test_many_hidden_bytes_are_told_in_few_words():
    hidden = "".join(chr(0xE0100 + n) for n in range(100))

    assert len(show_invisible(f"a{hidden}b")) < 150


def test_stacked_accents_do_not_leave_their_line():
    assert len(show_invisible("a" + "\u0301" * 500)) == 5


def test_long_runs_of_empty_lines_are_counted():
    assert squeeze_lines("top" + "\n" * 1001 + "bottom") == "top\n\n[1000 empty lines]\n\nbottom"
