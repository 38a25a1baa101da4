"""The pages."""

from django.urls import path

from investigations import views

urlpatterns = [
    path("", views.session_list, name="list"),
    path("fragments/active/", views.active_fragment, name="active"),
    path("fragments/recent/", views.recent_fragment, name="recent"),
    path("sessions/<uuid:session_id>/", views.session, name="session"),
    path("sessions/<uuid:session_id>/row/", views.running_row, name="running-row"),
    path("sessions/<uuid:session_id>/cancel/", views.cancel, name="cancel"),
    path("sessions/<uuid:session_id>/facts/", views.facts, name="facts"),
    path("sessions/<uuid:session_id>/events/", views.events, name="events"),
    path("sessions/<uuid:session_id>/events/<uuid:event_id>/", views.event, name="event"),
    path("sessions/<uuid:session_id>/events/<uuid:event_id>/content/", views.event_content,
         name="event-content"),
    path("sessions/<uuid:session_id>/stages/<uuid:stage_id>/", views.stage, name="stage"),
    path("sessions/<uuid:session_id>/executions/<uuid:execution_id>/earlier/", views.earlier,
         name="earlier"),
    path("approvals/<uuid:approval_id>/approve/", views.decide, {"verdict": "approved"},
         name="approve"),
    path("approvals/<uuid:approval_id>/deny/", views.decide, {"verdict": "denied"}, name="deny"),
    path("login/", views.Login.as_view(), name="login"),
    path("login/link/<str:token>/", views.login_link, name="login-link"),
    path("logout/", views.logout, name="logout"),
]  # fmt: skip
