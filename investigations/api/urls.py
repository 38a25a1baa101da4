"""Routes below /api/."""

from django.urls import URLPattern, URLResolver, include, path, re_path

from investigations.api import (
    absent,
    alerts,
    approvals,
    configuration,
    evidence,
    incidents,
    maintenance,
    reviews,
    session_acts,
    session_detail,
    sessions,
    system,
    timeline,
    trace,
    usage,
    webhooks,
)
from investigations.api.docs import DocsView, SchemaView
from investigations.api.errors import answer_unknown_path

Routes = list[URLPattern | URLResolver]

_session: Routes = [
    path("summary", session_detail.SessionSummaryView.as_view(), name="api-session-summary"),
    path("status", session_detail.SessionStatusView.as_view(), name="api-session-status"),
    path("timeline", timeline.SessionTimelineView.as_view(), name="api-session-timeline"),
    path("evidence", evidence.SessionEvidenceView.as_view(), name="api-session-evidence"),
    path("trace", trace.SessionTraceView.as_view(), name="api-session-trace"),
    path("trace/llm/<uuid:interaction_id>", trace.LLMTraceView.as_view(), name="api-trace-llm"),
    path("trace/mcp/<uuid:interaction_id>", trace.ToolTraceView.as_view(), name="api-trace-mcp"),
    path("cancel", session_acts.CancelSessionView.as_view(), name="api-session-cancel"),
    path("chat/messages", session_acts.ChatMessagesView.as_view(), name="api-session-chat"),
    path("score", absent.SessionScoreView.as_view(), name="api-session-score"),
    path("review-activity", reviews.ReviewActivityView.as_view(), name="api-review-activity"),
    path("memories", absent.SessionMemoriesView.as_view(), name="api-session-memories"),
    path(
        "injected-memories",
        absent.SessionMemoriesView.as_view(),
        name="api-session-injected-memories",
    ),
]

_system: Routes = [
    path("warnings", system.WarningsView.as_view(), name="api-system-warnings"),
    path("mcp-servers", system.ToolServersView.as_view(), name="api-system-mcp-servers"),
    path("default-tools", system.DefaultToolsView.as_view(), name="api-system-default-tools"),
    path("config", configuration.ConfigurationView.as_view(), name="api-system-config"),
    path("config/skills/<str:name>", configuration.SkillView.as_view(), name="api-system-skill"),
]

_approval: Routes = [
    path("approve", approvals.ApproveView.as_view(), name="api-approval-approve"),
    path("deny", approvals.DenyView.as_view(), name="api-approval-deny"),
]

urlpatterns: Routes = [
    path("v1/alerts", alerts.AlertsView.as_view(), name="api-alerts"),
    path("v1/webhooks", webhooks.WebhooksView.as_view(), name="api-webhooks"),
    path("v1/webhooks/<str:source>", webhooks.SourceView.as_view(), name="api-webhook"),
    # Prometheus and vmalert append this to the address of every Alertmanager.
    path(
        "v1/webhooks/prometheus/api/v2/alerts",
        webhooks.PrometheusView.as_view(),
        name="api-webhook-prometheus",
    ),
    path("v1/alert-types", alerts.AlertTypesView.as_view(), name="api-alert-types"),
    path("v1/runbooks", alerts.RunbooksView.as_view(), name="api-runbooks"),
    path("v1/sessions", sessions.SessionsView.as_view(), name="api-sessions"),
    path("v1/sessions/active", sessions.ActiveSessionsView.as_view(), name="api-sessions-active"),
    path(
        "v1/sessions/filter-options",
        sessions.FilterOptionsView.as_view(),
        name="api-sessions-filter-options",
    ),
    path(
        "v1/sessions/<uuid:session_id>",
        session_detail.SessionView.as_view(),
        name="api-session",
    ),
    path("v1/sessions/<uuid:session_id>/", include(_session)),
    path("v1/sessions/review", reviews.ReviewsView.as_view(), name="api-reviews"),
    path("v1/sessions/triage/<str:group>", reviews.TriageView.as_view(), name="api-triage"),
    path("v1/usage/summary", usage.UsageSummaryView.as_view(), name="api-usage-summary"),
    path("v1/approvals", approvals.ApprovalsView.as_view(), name="api-approvals"),
    path("v1/approvals/<uuid:approval_id>", approvals.ApprovalView.as_view(), name="api-approval"),
    path("v1/approvals/<uuid:approval_id>/", include(_approval)),
    path("v1/incidents", incidents.IncidentsView.as_view(), name="api-incidents"),
    path("v1/incidents/<uuid:incident_id>", incidents.IncidentView.as_view(), name="api-incident"),
    path("v1/deliveries", incidents.DeliveriesView.as_view(), name="api-deliveries"),
    path("v1/deliveries/<uuid:delivery_id>", incidents.DeliveryView.as_view(), name="api-delivery"),
    path("v1/maintenance", maintenance.MaintenanceView.as_view(), name="api-maintenance"),
    path(
        "v1/maintenance/<uuid:window_id>",
        maintenance.MaintenanceWindowView.as_view(),
        name="api-maintenance-window",
    ),
    path("v1/memories", absent.MemoriesView.as_view(), name="api-memories"),
    path("v1/memories/<uuid:memory_id>", absent.MemoryView.as_view(), name="api-memory"),
    path("v1/system/", include(_system)),
    path("schema/", SchemaView.as_view(), name="api-schema"),
    path("docs/", DocsView.as_view(), name="api-docs"),
    re_path("", answer_unknown_path),
]
