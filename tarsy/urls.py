"""The HTTP map."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from tarsy import health, prometheus_endpoint

urlpatterns: list[URLPattern | URLResolver] = [
    path("health", health.report_health, name="health"),
    path("healthz", health.report_alive, name="healthz"),
    path("readyz", health.report_ready, name="readyz"),
    path("metrics", prometheus_endpoint.report_metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("api/", include("investigations.api.urls")),
    path("", include("investigations.urls")),
]

handler400 = "investigations.api.errors.answer_bad_request"
handler500 = "investigations.api.errors.answer_server_error"
