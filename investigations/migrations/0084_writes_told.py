"""What the lines above an analysis say of writes, as a column that the database keeps.

PostgreSQL writes the table of sessions anew for it, and whoever reads or writes a session waits.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('investigations', '0083_checks_of_a_session'),
    ]

    operations = [
        migrations.AddField(
            model_name='alertsession',
            name='writes_told',
            field=models.GeneratedField(db_persist=True, expression=models.Case(models.When(final_analysis__regex='^(?:\\*\\*[A-Z][a-z ]*:\\*\\*[^\\n]*\\n\\s*)*\\*\\*Unverified:\\*\\*', then=models.Value('unverified')), models.When(final_analysis__regex='^(?:\\*\\*[A-Z][a-z ]*:\\*\\*[^\\n]*\\n\\s*)*\\*\\*Not carried out:\\*\\*', then=models.Case(models.When(final_analysis__regex='^(?:\\*\\*[A-Z][a-z ]*:\\*\\*[^\\n]*\\n\\s*)*\\*\\*Changed:\\*\\* (?!TARSy changed nothing\\.)', then=models.Value('partly')), default=models.Value('undone'))), models.When(final_analysis__regex='^(?:\\*\\*[A-Z][a-z ]*:\\*\\*[^\\n]*\\n\\s*)*\\*\\*Changed:\\*\\* (?!TARSy changed nothing\\.)', then=models.Value('changed')), default=models.Value('')), help_text='What the lines above the analysis say of writes.', output_field=models.CharField(choices=[('unverified', 'Not every write is confirmed'), ('partly', 'One was carried out, another was not'), ('undone', 'None was carried out'), ('changed', 'Each was carried out'), ('', 'There was none')], max_length=20)),
        ),
    ]
