"""Which session stands for its incident in the list, incidents of a single plain alert, and what
numbered posts are about."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("investigations", "0070_refused_posts")]

    operations = [
        migrations.AddField(
            "alertsession",
            "is_listed",
            models.BooleanField(
                db_default=True,
                default=True,
                help_text="Whether it stands for its incident in the list: the newest one does.",
            ),
        ),
        migrations.AlterField(
            "incident",
            "kind",
            models.CharField(
                choices=[("alert", "Alert"), ("group", "Group"), ("storm", "Storm")],
                default="group",
                max_length=10,
            ),
        ),
        migrations.AddField(
            "alertepisode",
            "about",
            models.CharField(
                blank=True,
                db_default="",
                help_text="What stays from one post to the next where each has a key of its own.",
                max_length=500,
            ),
        ),
    ]
