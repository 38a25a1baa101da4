"""The pages."""

from django.urls import path

from investigations.views import accounts, approvals, chat, lists, sessions, trace

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
    path("sessions/<uuid:session_id>/trace/", trace.trace, name="trace"),
    path("sessions/<uuid:session_id>/trace/llm/<uuid:interaction_id>/", trace.model_call,
         name="trace-llm"),
    path("sessions/<uuid:session_id>/trace/llm/<uuid:interaction_id>/messages/<int:place>/",
         trace.message, name="trace-message"),
    path("sessions/<uuid:session_id>/trace/agents/<uuid:execution_id>/<int:place>/",
         trace.iteration, name="trace-iteration"),
    path("sessions/<uuid:session_id>/trace/tools/<uuid:interaction_id>/", trace.tool_call,
         name="trace-tool"),
    path("sessions/<uuid:session_id>/trace/tools/<uuid:interaction_id>/arguments/",
         trace.tool_arguments, name="trace-arguments"),
    path("sessions/<uuid:session_id>/trace/tools/<uuid:interaction_id>/result/",
         trace.tool_result, name="trace-result"),
    path("approvals/<uuid:approval_id>/approve/", approvals.decide, {"verdict": "approved"},
         name="approve"),
    path("approvals/<uuid:approval_id>/deny/", approvals.decide, {"verdict": "denied"},
         name="deny"),
    path("login/", accounts.Login.as_view(), name="login"),
    path("login/link/<str:token>/", accounts.login_link, name="login-link"),
    path("logout/", accounts.logout, name="logout"),
]  # fmt: skip
