"""What people may do, and the groups that say so.

Knows no models: the app's own start imports it.
"""

from collections.abc import Mapping
from typing import Any

from django.apps.registry import Apps
from django.apps.registry import apps as all_apps

VIEW = "investigations.view_alertsession"
SUBMIT = "investigations.submit_alert"
OPERATE = "investigations.operate_session"
DECIDE = "investigations.decide_approval"
DELETE = "investigations.delete_alertsession"

SCOPES: Mapping[str, str] = {
    VIEW: "read",
    SUBMIT: "submit",
    OPERATE: "operate",
    DECIDE: "approve",
    DELETE: "operate",
}
"""Which scope a token needs besides the permission of its owner."""

ROLES: Mapping[str, tuple[str, ...]] = {
    "viewer": (VIEW,),
    "operator": (VIEW, SUBMIT, OPERATE),
    "approver": (VIEW, SUBMIT, OPERATE, DECIDE),
    "admin": (VIEW, SUBMIT, OPERATE, DECIDE, DELETE),
}
"""Each is a group; `admin` may see every record in the admin pages as well."""


def create_roles(*, using: str = "default", apps: Apps = all_apps, **_: Any) -> None:
    """Make the groups that are missing; one that is there stays as it was changed.

    Called after every `migrate` and `flush`, once the permissions are there.
    """
    try:
        groups = apps.get_model("auth", "Group").objects.using(using)
        permissions = apps.get_model("auth", "Permission").objects.using(using)
    except LookupError:
        return  # The database is that of a test which sees no accounts.
    ours = permissions.filter(content_type__app_label="investigations")
    for name, granted in ROLES.items():
        group, is_new = groups.get_or_create(name=name)
        if not is_new:
            continue
        codenames = [each.partition(".")[2] for each in granted]
        group.permissions.set(ours.filter(codename__in=codenames))
        if name == "admin":
            group.permissions.add(*ours.filter(codename__startswith="view_"))
