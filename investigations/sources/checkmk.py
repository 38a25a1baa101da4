"""Checkmk: a notification script of the user's, with the macros of a notification."""

from dataclasses import replace

from investigations.sources.nagios import read_notification
from investigations.sources.reading import Post, Reading
from investigations.sources.signs import Source


def read(post: Post) -> Reading:
    alert = read_notification(post)
    # Its own addresses begin with a slash: only Checkmk knows its host.
    return Reading(source="checkmk", alerts=(replace(alert, cluster=alert.labels.get("site", "")),))


SOURCE = Source(
    name="checkmk",
    label="Checkmk",
    signs=(
        ("notification_type", "host", "what"),
        ("notification_type", "host", "site"),
        ("notification_type", "host", "event", "summary"),
        ("NOTIFICATIONTYPE", "OMD_SITE"),
        ("NOTIFY_NOTIFICATIONTYPE", "NOTIFY_HOSTNAME"),
    ),
    expects="an object with `notification_type`, `host` and `what`, as the notification script "
    "says",
    read=read,
    is_template=True,
    also=("nagios",),
)
