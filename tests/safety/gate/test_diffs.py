"""What changes between two texts, as a person reads it."""

from hypothesis import given
from hypothesis import strategies as st

from safety.gate.approval.diffs import MAX_ROWS, NO_NEWLINE, Diff, diff_texts

texts = st.text(alphabet="ab\n\r\u2028\u200b", max_size=40)


def drawn(diff: Diff) -> list[str]:
    signs = {"same": " ", "del": "-", "add": "+", "gap": "@"}
    return [f"{signs[row.kind]}{row.text}" for row in diff.rows]


def test_a_changed_line_is_shown_with_the_lines_around_it_and_their_numbers():
    before = "".join(f"{number}\n" for number in range(1, 21))

    diff = diff_texts(before, before.replace("10\n", "ten\n"))

    assert drawn(diff) == ["@", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13", "@"]
    assert [(row.old, row.new) for row in diff.rows[3:6]] == [(9, 9), (10, None), (None, 10)]
    assert (diff.added, diff.removed, diff.left_out) == (1, 1, 0)


def test_changes_that_lie_close_together_are_shown_as_one():
    before = "".join(f"{number}\n" for number in range(1, 31))

    diff = diff_texts(before, before.replace("\n10\n", "\nten\n").replace("\n25\n", "\n"))

    assert drawn(diff).count("@") == 3
    assert [row.new for row in diff.rows if row.text == "26"] == [25]


def test_lines_of_the_end_of_a_file_keep_their_numbers():
    diff = diff_texts("a\n", "a\nb\n", first_line=100)

    assert [(row.kind, row.old, row.new) for row in diff.rows] == [
        ("same", 100, 100), ("add", None, 101),
    ]  # fmt: skip


def test_a_missing_line_end_is_told():
    diff = diff_texts("a", "a\n")

    assert [(row.kind, row.note) for row in diff.rows] == [("del", NO_NEWLINE), ("add", "")]


def test_a_new_file_is_all_added_and_the_same_text_is_no_change():
    assert drawn(diff_texts("", "a\n\nb\n")) == ["+a", "+", "+b"]
    assert diff_texts("a\nb", "a\nb").rows == ()


def test_what_is_too_much_to_draw_is_counted():
    many = "".join(f"{number}\n" for number in range(MAX_ROWS))

    diff = diff_texts(many, many.replace("\n", "x\n"))

    assert len(diff.rows) == MAX_ROWS
    assert (diff.added, diff.removed, diff.left_out) == (MAX_ROWS, MAX_ROWS, MAX_ROWS)


@given(texts, texts)
def test_every_change_is_shown_and_nothing_else(before, after):
    diff = diff_texts(before, after)

    old, new = before.split("\n"), after.split("\n")
    for row in diff.rows:
        assert "\n" not in row.text
        if row.old is not None:
            assert old[row.old - 1] == row.text
        if row.new is not None:
            assert new[row.new - 1] == row.text
    assert diff.added - diff.removed == _count(after) - _count(before)
    assert (before == after) is (diff.rows == ())


def _count(text: str) -> int:
    return text.count("\n") + bool(text and not text.endswith("\n"))
