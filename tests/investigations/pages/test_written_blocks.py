"""A text that is being written is drawn block by block, and ends as the whole would be."""

import asyncio
import threading
import uuid
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from investigations.rendering.written_blocks import render_blocks, wrap_blocks
from investigations.stream import written_texts
from investigations.stream.written_texts import WrittenTexts, _Text

REPORTS = Path(__file__).parents[2] / "masking" / "reports"
TEXTS = st.sampled_from(
    [path.read_text("utf-8") for path in sorted(REPORTS.glob("*.md"))]
) | st.text(alphabet="ab*`#-|[]()<>T1 \n\n\n1.", max_size=200)


@given(TEXTS, st.lists(st.integers(1, 400), max_size=30))
@example("* one\n* **two**", [10])
@example("- one\n---two", [9])
@example("1. one\n```two`", [10])
@example("- one\n#two", [7])
def test_what_is_drawn_piece_by_piece_is_in_the_end_the_whole(text, sizes):
    written = _Text("")
    shown: list[str] = []
    position = 0
    for size in [*sizes, len(text)]:
        piece = text[position : position + size]
        assert written.extend(position, piece)
        position += len(piece)
        if drawn := written.close(render_blocks(written.tail)):
            assert drawn["first"] <= len(shown)
            shown[drawn["first"] :] = drawn["html"]

    assert "".join(f"<div>{each}</div>" for each in shown) == wrap_blocks(render_blocks(text))


def test_a_piece_that_was_seen_changes_nothing_and_one_behind_a_gap_is_none():
    written = _Text("")

    assert written.extend(0, "The pod")
    assert written.extend(4, "pod died")
    assert not written.extend(100, "later")
    assert written.tail == "The pod died"


def chunk(event: uuid.UUID, offset: int, delta: str) -> dict[str, object]:
    return {"event_id": str(event), "offset": offset, "delta": delta}


async def test_a_piece_that_comes_while_its_text_is_drawn_is_neither_lost_nor_drawn_yet(
    monkeypatch,
):
    begun, go_on = threading.Event(), threading.Event()

    def render_slowly(text):
        begun.set()
        go_on.wait(10)
        return render_blocks(text)

    monkeypatch.setattr(written_texts, "render_blocks", render_slowly)
    monkeypatch.setattr(written_texts, "DRAW_EVERY", 0)
    texts, event = WrittenTexts(lambda _: ""), uuid.uuid4()
    first = asyncio.ensure_future(texts.draw(chunk(event, 0, "One.\n\nTw")))
    await asyncio.to_thread(begun.wait, 10)

    meanwhile = await texts.draw(chunk(event, 8, "o."))
    go_on.set()
    drawn = await first
    last = await texts.draw(chunk(event, 10, "\n\nThree."))

    assert meanwhile is None
    assert drawn == {"first": 0, "html": ["<p>One.</p>", "<p>Tw</p>"]}
    assert last == {"first": 0, "html": ["<p>One.</p>", "<p>Two.</p>", "<p>Three.</p>"]}


async def test_a_block_is_drawn_no_more_once_the_line_that_follows_it_has_ended(monkeypatch):
    monkeypatch.setattr(written_texts, "DRAW_EVERY", 0)
    texts, event = WrittenTexts(lambda _: ""), uuid.uuid4()

    await texts.draw(chunk(event, 0, "One.\n\nTwo.\n"))

    drawn = await texts.draw(chunk(event, 11, "\nThree."))
    assert drawn == {"first": 1, "html": ["<p>Two.</p>", "<p>Three.</p>"]}


async def test_a_text_that_could_not_be_read_is_read_again():
    answers: list[object] = [OSError("the database is away"), "Pods d"]

    def read(_):
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    texts, event = WrittenTexts(read), uuid.uuid4()

    assert await texts.draw(chunk(event, 5, "di")) is None
    assert await texts.draw(chunk(event, 6, "ied.")) == {"first": 0, "html": ["<p>Pods died.</p>"]}


def test_a_mark_that_is_not_closed_yet_shows_no_mark():
    assert "**" not in wrap_blocks(render_blocks("It is **the me"))
    assert "`" not in wrap_blocks(render_blocks("- run `kubectl get"))
    assert "**" not in wrap_blocks(render_blocks("It is **"))
    assert "a ** b" in wrap_blocks(render_blocks("```\na ** b"))


def test_nothing_of_a_text_that_is_being_written_is_markup():
    html = wrap_blocks(render_blocks('<script>alert(1)</script>\n\n<img src=x onerror="a()">'))

    assert "<script" not in html
    assert "<img" not in html
