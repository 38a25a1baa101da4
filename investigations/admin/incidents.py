"""What alert sources posted, and the incidents it belongs to, to look at."""

from django.contrib import admin
from django.utils.safestring import SafeString

from investigations.admin.base import ReadOnlyAdmin
from investigations.models import (
    AlertEpisode,
    Delivery,
    Incident,
    MaintenanceWindow,
    MemberChange,
)
from investigations.templatetags.display import pill


@admin.register(Incident)
class IncidentAdmin(ReadOnlyAdmin):
    list_display = ("title", "shown_state", "kind", "severity", "source", "member_count",
                    "firing_count", "opened_at")  # fmt: skip
    list_filter = ("state", "severity", "kind")
    id_fields = ("id",)
    date_hierarchy = "opened_at"
    ordering = ("-opened_at", "-id")

    @admin.display(description="State", ordering="state")
    def shown_state(self, row: Incident) -> SafeString:
        return pill(row.state, "bare")


@admin.register(AlertEpisode)
class AlertEpisodeAdmin(ReadOnlyAdmin):
    list_display = ("title", "state", "severity", "source", "key", "count", "first_seen_at",
                    "last_seen_at")  # fmt: skip
    list_filter = ("state", "severity")
    id_fields = ("id", "incident_id")
    date_hierarchy = "last_seen_at"
    ordering = ("-last_seen_at", "-id")
    long_fields = ("body", "labels")


@admin.register(MemberChange)
class MemberChangeAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "episode_id", "incident_id", "at")
    list_filter = ("kind",)
    id_fields = ("incident_id", "episode_id")
    ordering = ("-id",)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("received_at", "source", "outcome", "why", "alert_count", "size", "author")
    list_filter = ("outcome",)
    id_fields = ("id", "incident_id")
    date_hierarchy = "received_at"
    ordering = ("-received_at", "-id")
    long_fields = ("body", "alerts")


@admin.register(MaintenanceWindow)
class MaintenanceWindowAdmin(ReadOnlyAdmin):
    list_display = ("name", "starts_at", "ends_at", "author", "ended_by")
    id_fields = ("id",)
    date_hierarchy = "ends_at"
    ordering = ("-ends_at", "-id")
    exported_long_fields = ()
