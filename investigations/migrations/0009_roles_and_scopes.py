from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

SCOPES = ["read", "submit", "operate", "approve"]


class Migration(migrations.Migration):
    dependencies = [("investigations", "0008_audit_chain")]

    operations = [
        migrations.AlterModelOptions(
            name="alertsession",
            options={
                "ordering": ["-created_at", "-id"],
                "permissions": [
                    ("submit_alert", "Can submit alerts"),
                    ("operate_session", "Can stop investigations and ask about them"),
                ],
            },
        ),
        # Tokens that are there could be used for everything until now.
        migrations.AddField(
            model_name="apitoken",
            name="scopes",
            field=ArrayField(
                models.CharField(max_length=20, choices=[(each, each.title()) for each in SCOPES]),
                default=SCOPES.copy,
                help_text="What it may be used for, of what its owner may do.",
            ),
            preserve_default=False,
        ),
    ]
