"""What a search of the list finds, and what it says of where."""

from itertools import islice, permutations

import pytest
from django.utils import timezone

from investigations.selectors.session_list import hits
from tests.factories import (
    SessionFactory,
    TimelineEventFactory,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("length", [1, 2, 20])
def test_an_event_of_the_largest_words_there_are_is_kept_and_found(viewer, length):
    # Four bytes a sign, and words with a hyphen count as one and in their parts.
    signs = permutations([chr(0x20000 + number) for number in range(500)], 2 * length)
    words = [
        "".join(each[:length]) + "-" + "".join(each[length:]) for each in islice(signs, 60_000)
    ]
    session = SessionFactory(completed=True, title="found by its words")

    TimelineEventFactory(session=session, content=" ".join(words))

    assert "found by its words" in viewer.get("/", {"search": words[7]}).content.decode()


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("connec", True),
        ("connections", True),
        ("refusing connec", True),
        ("nginx-pro", True),
        ("it's/o", False),
        ("\\':* | refused", True),
        ("\\':* | absent", False),
        ("absent ':* | \\", False),
        ("con", False),
        ("the", False),
        ("connec absent", False),
    ],
)
def test_the_last_word_of_a_search_may_be_a_beginning(viewer, text, is_found):
    said = "the pods refused every connection of nginx-prod"
    event = TimelineEventFactory(tool_call=True, content=said)

    page = viewer.get("/", {"search": text, "status": "in_progress"}).content.decode()

    assert (f'id="hit-{event.session_id}"' in page) == is_found


@pytest.mark.parametrize("length", [8, 13, 36])
def test_a_session_is_found_by_its_id_as_pages_shorten_it(viewer, length):
    session, other = SessionFactory(completed=True), SessionFactory(completed=True)

    page = viewer.get("/", {"search": str(session.pk)[:length]}).content.decode()

    assert f"/sessions/{session.pk}/" in page
    assert f"/sessions/{other.pk}/" not in page


def test_a_found_row_says_where_with_the_words_marked_and_nothing_of_it_acts(viewer):
    alert = SessionFactory(completed=True, alert_data=f"{'x ' * 200}<b>Kubelet</b> is gone")
    report = SessionFactory(completed=True, final_analysis="The <i>kubelet</i> was full.")
    call = TimelineEventFactory(
        execution__stage__session=SessionFactory(completed=True),
        tool_call=True,
        content="<script>x</script> kubelets were \u202e here",
        metadata={"server_name": "k8s", "tool_name": "pods<b>"},
        sequence_number=7,
    )
    secret = SessionFactory(alert_data="kubelet", deleted_at=timezone.now())
    sessions = [str(each.pk) for each in (alert, report, call.session, secret)]

    page = viewer.get(
        "/fragments/hits/", {"search": "kubelet", "session": sessions}
    ).content.decode()

    hits = {part[:36]: part for part in page.split('id="hit-')[1:]}
    assert hits.keys() == set(sessions[:3])
    assert "In the alert</a>: …" in hits[sessions[0]]
    assert "&lt;b&gt;<mark>Kubelet</mark>&lt;/b&gt; is gone" in hits[sessions[0]]
    assert "In the report</a>: The &lt;i&gt;<mark>kubelet</mark>" in hits[sessions[1]]
    assert f'/sessions/{sessions[2]}/#e-7">In what k8s.pods&lt;b&gt; returned' in hits[sessions[2]]
    assert "<mark>kubelets</mark> were [U+202E] here" in hits[sessions[2]]
    assert "<script" not in page


def test_where_too_many_timelines_have_a_text_none_is_read_for_it(viewer):
    event = TimelineEventFactory(content="kubelet")
    asked = {"search": "kubelet", "session": [str(event.session_id)]}

    assert "kubelet" in viewer.get("/fragments/hits/", asked).content.decode()
    assert viewer.get("/fragments/hits/", {**asked, "timelines": "0"}).content.strip() == b""


def test_a_search_of_many_words_in_a_long_text_is_cut_short_and_not_waited_for(viewer, monkeypatch):
    text = "kubelet " * 12_000
    event = TimelineEventFactory(content=text, metadata={"tool_name": "logs"})
    asked = {"search": "kubelet " * 40, "session": str(event.session_id)}

    assert "<mark>" in viewer.get("/fragments/hits/", asked).content.decode()
    monkeypatch.setattr(hits, "LONGEST_SECONDS", 0.001)
    answer = viewer.get("/fragments/hits/", asked)

    assert (answer.status_code, answer.content.strip()) == (200, b"")


def test_a_hit_far_within_an_event_is_named_without_its_words(viewer):
    event = TimelineEventFactory(content="filler " * 4_000 + "zebrafish")
    asked = {"search": "zebrafish", "session": str(event.session_id)}

    page = viewer.get("/fragments/hits/", asked).content.decode()

    assert f"#e-{event.sequence_number}" in page
    assert "further on in it" in page


def test_hits_are_asked_for_by_ids(viewer):
    assert viewer.get("/fragments/hits/?search=kubelet&session=x").status_code == 400
