"""Django's own accounts and groups, with lists as careful as ours."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User

from investigations.admin.change_list import CarefulAdmin

admin.site.unregister([User, Group])


@admin.register(User)
class AccountAdmin(CarefulAdmin, UserAdmin[User]):
    pass


@admin.register(Group)
class RoleAdmin(CarefulAdmin, GroupAdmin):
    pass
