"""A text that is being written is drawn block by block, and ends as the whole would be."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from investigations.rendering.written_blocks import render_blocks, wrap_blocks
from investigations.stream.written_texts import _draw_tail, _Text

REPORTS = Path(__file__).parents[2] / "masking" / "reports"
TEXTS = st.sampled_from(
    [path.read_text("utf-8") for path in sorted(REPORTS.glob("*.md"))]
) | st.text(alphabet="ab*`#-|[]()<>T1 \n\n\n1.", max_size=200)


@given(TEXTS, st.lists(st.integers(1, 400), max_size=30))
def test_what_is_drawn_piece_by_piece_is_in_the_end_the_whole(text, sizes):
    written = _Text("")
    shown: list[str] = []
    position = 0
    for size in [*sizes, len(text)]:
        piece = text[position : position + size]
        assert written.extend(position, piece)
        position += len(piece)
        if drawn := _draw_tail(written):
            assert drawn["first"] <= len(shown)
            shown[drawn["first"] :] = drawn["html"]

    assert "".join(f"<div>{each}</div>" for each in shown) == wrap_blocks(render_blocks(text))


def test_a_piece_that_was_seen_changes_nothing_and_one_behind_a_gap_is_none():
    written = _Text("")

    assert written.extend(0, "The pod")
    assert written.extend(4, "pod died")
    assert not written.extend(100, "later")
    assert written.tail == "The pod died"


def test_a_mark_that_is_not_closed_yet_shows_no_mark():
    assert "**" not in wrap_blocks(render_blocks("It is **the me"))
    assert "`" not in wrap_blocks(render_blocks("- run `kubectl get"))
    assert "**" not in wrap_blocks(render_blocks("It is **"))
    assert "a ** b" in wrap_blocks(render_blocks("```\na ** b"))


def test_nothing_of_a_text_that_is_being_written_is_markup():
    html = wrap_blocks(render_blocks('<script>alert(1)</script>\n\n<img src=x onerror="a()">'))

    assert "<script" not in html
    assert "<img" not in html
