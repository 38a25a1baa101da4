"""Events come out whole, wherever the network cuts them."""

import json

import pytest

from agents.llm import sse
from agents.llm.sse import EventReader

STREAM = (
    ': a comment\r\n\r\nevent: message\ndata: {"a": "\u00e4"}\n\n'
    'data:{"b":\ndata: 2}\r\n\r\nretry: 5\n\ndata: {"c": 3}\n\n'
).encode()
EVENTS = [{"a": "\u00e4"}, {"b": 2}, {"c": 3}]


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(STREAM)])
def test_events_are_the_same_wherever_their_bytes_are_cut(size: int):
    reader = EventReader()

    parts = [STREAM[start : start + size] for start in range(0, len(STREAM), size)]

    assert [event for part in parts for event in reader.feed(part)] == EVENTS
    assert reader.finish() == []


def test_nothing_is_read_after_the_end():
    reader = EventReader()

    events = reader.feed(b'data: {"a": 1}\n\ndata: [DONE]\n\ndata: {"b": 2}\n\n')

    assert events == [{"a": 1}]
    assert reader.has_ended


def test_the_last_event_needs_no_blank_line():
    reader = EventReader()
    assert reader.feed(b'data: {"a": 1}') == []

    assert reader.finish() == [{"a": 1}]
    assert not reader.has_ended


@pytest.mark.parametrize("data", ["{", "[1]", "3", '"text"'])
def test_what_is_no_object_is_refused(data: str):
    with pytest.raises(ValueError):  # noqa: PT011  # json words its own errors
        EventReader().feed(f"data: {data}\n\n".encode())


def test_an_event_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    reader = EventReader()
    reader.feed(b"data: " + b"x" * 90)

    with pytest.raises(ValueError, match="does not end"):
        reader.feed(json.dumps("x" * 20).encode())


def test_an_event_of_ever_more_lines_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    reader = EventReader()

    for _ in range(11):
        reader.feed(b"data: xxx\n")

    with pytest.raises(ValueError, match="does not end"):
        reader.feed(b"data: xxx\n")


def test_each_event_has_the_whole_size_to_itself(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    reader = EventReader()

    for _ in range(100):
        assert reader.feed(b'data: {"a": 1}\n\n') == [{"a": 1}]
