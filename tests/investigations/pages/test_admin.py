from datetime import UTC, datetime

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse

from investigations.models import AuditEvent, ResourceNote
from tests import factories

pytestmark = pytest.mark.django_db

MADE_BY = {
    "AlertSession": factories.SessionFactory,
    "Stage": factories.StageFactory,
    "AgentExecution": factories.ExecutionFactory,
    "TimelineEvent": factories.TimelineEventFactory,
    "Message": factories.MessageFactory,
    "LLMInteraction": factories.LLMInteractionFactory,
    "MCPInteraction": factories.MCPInteractionFactory,
    "Event": factories.EventFactory,
    "ApprovalRequest": factories.ApprovalRequestFactory,
    "Chat": factories.ChatFactory,
    "ChatUserMessage": factories.ChatUserMessageFactory,
    "ResourceNote": factories.ResourceNoteFactory,
    "AuditEvent": factories.AuditEventFactory,
}


@pytest.fixture
def operator(client):
    client.force_login(factories.UserFactory(admin=True))
    return client


@pytest.mark.parametrize("name", MADE_BY)
def test_every_model_can_be_listed_searched_and_read_but_not_changed(operator, name):
    row = MADE_BY[name]()
    base = f"admin:investigations_{name.lower()}"
    one = reverse(f"{base}_change", args=[row.pk])

    listed = operator.get(reverse(f"{base}_changelist"))
    found = operator.get(reverse(f"{base}_changelist"), {"q": "nothing like this"})
    read = operator.get(one)

    assert listed.status_code == found.status_code == read.status_code == 200
    assert str(row.pk) in listed.content.decode()
    assert 'name="_save"' not in read.content.decode()
    assert operator.post(one, {}).status_code == 403
    assert operator.get(reverse(f"{base}_add")).status_code == 403


def test_no_model_of_the_history_is_missing():
    ours = {model for model in apps.get_app_config("investigations").get_models()}
    read_only = {m for m in ours if m.__name__ in MADE_BY}

    assert all(admin.site.is_registered(model) for model in read_only)
    assert all(not admin.site.get_model_admin(m).show_full_result_count for m in read_only)


def test_rows_lead_to_the_live_page(operator):
    event = factories.TimelineEventFactory()

    page = operator.get(reverse("admin:investigations_timelineevent_changelist")).content.decode()

    assert f"/sessions/{event.session_id}/#e-{event.sequence_number}" in page


def test_moments_are_sortable_and_what_waits_for_a_person_is_told_here_too(operator):
    factories.SessionFactory(created_at=datetime(2026, 11, 28, 16, 4, 5, tzinfo=UTC))
    approval = factories.ApprovalRequestFactory()

    page = operator.get(reverse("admin:investigations_alertsession_changelist")).content.decode()

    assert "2026-11-28 16:04:05" in page
    assert f'href="/sessions/{approval.session_id}/#approvals"' in page


def test_long_texts_are_not_read_for_the_list(operator, django_assert_max_num_queries):
    for _ in range(20):
        factories.SessionFactory(alert_data="secret-looking text " * 10)

    # Three of them are looks into indexes, for the values that the filters offer.
    with django_assert_max_num_queries(10) as queries:
        operator.get(reverse("admin:investigations_alertsession_changelist"))

    assert not any("alert_data" in query["sql"] for query in queries.captured_queries)


def test_text_from_outside_stays_text(operator):
    event = factories.TimelineEventFactory(content="<script>alert(1)</script>\u202e")

    page = operator.get(
        reverse("admin:investigations_timelineevent_change", args=[event.pk])
    ).content.decode()

    assert "<script>alert(1)" not in page
    assert "[U+202E]" in page


def test_the_lease_of_a_worker_is_not_shown(operator):
    execution = factories.ExecutionFactory(active=True)

    page = operator.get(
        reverse("admin:investigations_agentexecution_change", args=[execution.pk])
    ).content.decode()

    assert str(execution.lease_token) not in page


def test_a_note_is_deleted_by_a_person_and_the_trail_says_by_whom(operator):
    note, other = factories.ResourceNoteFactory(), factories.ResourceNoteFactory()

    answer = operator.post(
        reverse("admin:investigations_resourcenote_delete", args=[note.pk]), {"post": "yes"}
    )
    listed = operator.post(
        reverse("admin:investigations_resourcenote_changelist"),
        {"action": "delete_selected", "_selected_action": [str(other.pk)], "post": "yes"},
    )

    assert (answer.status_code, listed.status_code) == (302, 302)
    assert not ResourceNote.objects.exists()
    acts = AuditEvent.objects.filter(action="note.delete")
    assert {act.target_id for act in acts} == {str(note.pk), str(other.pk)}
    assert {act.actor for act in acts} == {User.objects.get(is_staff=True).username}


def test_nothing_but_notes_can_be_deleted(operator):
    for name in MADE_BY.keys() - {"ResourceNote"}:
        row = MADE_BY[name]()
        address = reverse(f"admin:investigations_{name.lower()}_delete", args=[row.pk])
        assert operator.post(address, {"post": "yes"}).status_code == 403, name


@pytest.mark.parametrize(
    "name", sorted(MADE_BY.keys() - {"AuditEvent", "ChatUserMessage", "Event"})
)
def test_a_row_is_found_by_its_id_and_by_that_of_its_session(operator, name):
    row, other = MADE_BY[name](), MADE_BY[name]()
    address = reverse(f"admin:investigations_{name.lower()}_changelist")

    for identity in {row.pk, getattr(row, "session_id", row.pk)}:
        found = operator.get(address, {"q": f" {identity} "}).content.decode()
        assert f"/{row.pk}/change/" in found
        assert f"/{other.pk}/change/" not in found


def test_a_large_table_is_filtered_within_a_day_or_a_session(operator):
    event = factories.TimelineEventFactory(event_type="error")
    other = factories.TimelineEventFactory(session=event.session, event_type="llm_thinking")
    address = reverse("admin:investigations_timelineevent_changelist")

    everywhere = operator.get(address, {"event_type__exact": "error"})
    within = operator.get(address, {"event_type__exact": "error", "q": str(event.session_id)})

    assert everywhere.status_code == 302
    assert "created_at__day=" in everywhere["Location"]
    assert f"/{event.pk}/change/" in within.content.decode()
    assert f"/{other.pk}/change/" not in within.content.decode()


def test_words_are_looked_for_where_a_table_can_bear_it(operator):
    note = factories.ResourceNoteFactory(text="The limit was raised in May.")
    message = factories.MessageFactory(content="The limit was raised in May.")

    notes = operator.get(reverse("admin:investigations_resourcenote_changelist"), {"q": "raised"})
    messages = operator.get(reverse("admin:investigations_message_changelist"), {"q": "raised"})

    assert f"/{note.pk}/change/" in notes.content.decode()
    assert f"/{message.pk}/change/" not in messages.content.decode()


def test_the_trail_names_what_an_act_was_about(operator):
    session = factories.SessionFactory(title="basket <restarts>")
    approval = factories.ApprovalRequestFactory(execution__stage__session=session)
    for kind, target in (("session", session.pk), ("approval", approval.pk), ("model", "audit")):
        factories.AuditEventFactory(target_type=kind, target_id=str(target))

    page = operator.get(reverse("admin:investigations_auditevent_changelist")).content.decode()

    at = f'<a href="/sessions/{session.pk}/"'
    assert f'{at} title="{session.pk}">basket &lt;restarts&gt;</a>' in page
    assert f'{at} title="{approval.pk}">ops.control on {approval.target}</a>' in page
    assert 'class="field-target">audit<' in page


def test_the_trail_is_searched_by_who_what_and_whom(operator):
    act = factories.AuditEventFactory(actor="ann", action="note.delete", target_id="n-1")
    other = factories.AuditEventFactory(actor="bob", action="session.cancel", target_id="s-1")
    address = reverse("admin:investigations_auditevent_changelist")

    found = {
        word: operator.get(address, {"q": word}).content.decode()
        for word in ("ann", "note.delete", "n-1", "delete")
    }
    filtered = operator.get(address, {"action": "note.delete"}).content.decode()

    for page in (found["ann"], found["note.delete"], found["n-1"], filtered):
        assert f"/{act.pk}/change/" in page
        assert f"/{other.pk}/change/" not in page
    assert f"/{act.pk}/change/" not in found["delete"]
    assert "?action=session.cancel" in filtered
