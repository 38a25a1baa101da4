from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("investigations", "0006_interactions_by_time")]

    operations = [
        migrations.AddField(
            model_name="approvalrequest",
            name="tool_number",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="approvalrequest",
            name="arguments",
            field=models.JSONField(
                default=dict, help_text="Masked; the hash is of what will run."
            ),
        ),
        migrations.AddIndex(
            model_name="approvalrequest",
            index=models.Index(fields=["-created_at", "-id"], name="approval_newest"),
        ),
    ]
