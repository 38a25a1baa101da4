"""Which questions were asked by somebody who may decide about writes. Of those before, none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("investigations", "0018_admin_lists")]

    operations = [
        migrations.AddField(
            "chatusermessage",
            "may_decide",
            models.BooleanField(db_default=False, default=False),
        ),
    ]
