"""The pages."""

from django.urls import path

from investigations.views import accounts, approvals, chat, lists, sessions

urlpatterns = [
    path("", lists.session_list, name="list"),
    path("fragments/active/", lists.active_fragment, name="active"),
    path("fragments/recent/", lists.recent_fragment, name="recent"),
    path("sessions/<uuid:session_id>/", sessions.session, name="session"),
    path("sessions/<uuid:session_id>/row/", lists.running_row, name="running-row"),
    path("sessions/<uuid:session_id>/cancel/", sessions.cancel, name="cancel"),
    path("sessions/<uuid:session_id>/ask/", chat.ask, name="ask"),
    path("sessions/<uuid:session_id>/facts/", sessions.facts, name="facts"),
    path("sessions/<uuid:session_id>/events/", sessions.events, name="events"),
    path("sessions/<uuid:session_id>/events/<uuid:event_id>/", sessions.event, name="event"),
    path("sessions/<uuid:session_id>/events/<uuid:event_id>/content/", sessions.event_content,
         name="event-content"),
    path("sessions/<uuid:session_id>/stages/<uuid:stage_id>/", sessions.stage, name="stage"),
    path("sessions/<uuid:session_id>/executions/<uuid:execution_id>/earlier/", sessions.earlier,
         name="earlier"),
    path("approvals/<uuid:approval_id>/approve/", approvals.decide, {"verdict": "approved"},
         name="approve"),
    path("approvals/<uuid:approval_id>/deny/", approvals.decide, {"verdict": "denied"},
         name="deny"),
    path("login/", accounts.Login.as_view(), name="login"),
    path("login/link/<str:token>/", accounts.login_link, name="login-link"),
    path("logout/", accounts.logout, name="logout"),
]  # fmt: skip
