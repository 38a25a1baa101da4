"""Routes below /api/."""

from django.urls import URLPattern, URLResolver, path, re_path

from investigations.api import evidence, system, views
from investigations.api.docs import DocsView, SchemaView
from investigations.api.errors import answer_unknown_path

urlpatterns: list[URLPattern | URLResolver] = [
    path("v1/alerts", views.AlertsView.as_view(), name="api-alerts"),
    path("v1/alert-types", views.AlertTypesView.as_view(), name="api-alert-types"),
    path("v1/system/warnings", system.WarningsView.as_view(), name="api-system-warnings"),
    path("v1/system/mcp-servers", system.ToolServersView.as_view(), name="api-system-mcp-servers"),
    path(
        "v1/system/default-tools",
        system.DefaultToolsView.as_view(),
        name="api-system-default-tools",
    ),
    path("v1/runbooks", views.RunbooksView.as_view(), name="api-runbooks"),
    path("v1/sessions", views.SessionsView.as_view(), name="api-sessions"),
    path("v1/sessions/active", views.ActiveSessionsView.as_view(), name="api-sessions-active"),
    path("v1/sessions/<uuid:session_id>", views.SessionView.as_view(), name="api-session"),
    path(
        "v1/sessions/<uuid:session_id>/status",
        views.SessionStatusView.as_view(),
        name="api-session-status",
    ),
    path(
        "v1/sessions/<uuid:session_id>/timeline",
        views.SessionTimelineView.as_view(),
        name="api-session-timeline",
    ),
    path(
        "v1/sessions/<uuid:session_id>/evidence",
        evidence.SessionEvidenceView.as_view(),
        name="api-session-evidence",
    ),
    path(
        "v1/sessions/<uuid:session_id>/cancel",
        views.CancelSessionView.as_view(),
        name="api-session-cancel",
    ),
    path(
        "v1/sessions/<uuid:session_id>/chat/messages",
        views.ChatMessagesView.as_view(),
        name="api-session-chat",
    ),
    path("schema/", SchemaView.as_view(), name="api-schema"),
    path("docs/", DocsView.as_view(), name="api-docs"),
    re_path("", answer_unknown_path),
]
