"""Deliveries, alerts and incidents; keys cascade in the database, as those of 0002."""

import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.db import migrations, models



def _add_key(table: str, column: str, target: str, action: str) -> migrations.RunSQL:
    name = f"{table}_{column}_fk"
    return migrations.RunSQL(
        sql=(
            f"ALTER TABLE investigations_{table} ADD CONSTRAINT {name} FOREIGN KEY ({column}) "
            f"REFERENCES investigations_{target} (id) ON DELETE {action} "
            "DEFERRABLE INITIALLY DEFERRED"
        ),
        reverse_sql=f"ALTER TABLE investigations_{table} DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):

    dependencies = [
        ('investigations', '0020_audit_never_emptied'),
    ]

    operations = [
        migrations.CreateModel(
            name='MaintenanceWindow',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('matchers', models.JSONField(help_text='As texts; each must match. None matches every alert.')),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField()),
                ('author', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('ended_by', models.CharField(blank=True, help_text='Who ended it early.', max_length=200)),
            ],
            options={
                'ordering': ['-ends_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='MemberChange',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('joined', 'Joined'), ('resolved', 'Resolved'), ('reopened', 'Fires again')], max_length=20)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.AddField(
            model_name='agentexecution',
            name='told_changes',
            field=models.BigIntegerField(db_default=0, help_text='The newest change of the incident that its agent was told of.'),
        ),
        migrations.AddField(
            model_name='alertsession',
            name='held_for',
            field=models.CharField(blank=True, db_default='', max_length=200),
        ),
        migrations.AddField(
            model_name='alertsession',
            name='changes_in_alert',
            field=models.BigIntegerField(db_default=0, help_text='The newest change of its incident that its alert holds.'),
        ),
        migrations.AddField(
            model_name='alertsession',
            name='not_before',
            field=models.DateTimeField(blank=True, help_text='Until then it waits, as `held_for` says why.', null=True),
        ),
        migrations.AddField(
            model_name='alertsession',
            name='severity',
            field=models.CharField(blank=True, db_default='', max_length=20),
        ),
        migrations.AddField(
            model_name='alertsession',
            name='source',
            field=models.CharField(blank=True, db_default='', max_length=100),
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('source', models.CharField(max_length=100)),
                ('received_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('author', models.CharField(blank=True, max_length=200)),
                ('delivery_id', models.CharField(blank=True, help_text="The sender's own.", max_length=500)),
                ('sha256', models.CharField(max_length=64)),
                ('size', models.PositiveIntegerField(default=0, help_text='Bytes of the body as JSON.')),
                ('body', models.TextField(blank=True, help_text='Masked, and cut.')),
                ('outcome', models.CharField(choices=[('started', 'Started'), ('held', 'Held'), ('joined', 'Joined'), ('duplicate', 'Duplicate'), ('resolved', 'Resolved'), ('maintenance', 'In maintenance'), ('inhibited', 'Inhibited'), ('over_budget', 'Over budget'), ('ignored', 'Ignored')], max_length=20)),
                ('why', models.TextField(blank=True)),
                ('alerts', models.JSONField(blank=True, default=list)),
                ('alert_count', models.PositiveIntegerField(default=0)),
                ('session_id', models.UUIDField(blank=True, null=True)),
                ('incident_id', models.UUIDField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'ordering': ['-received_at', '-id'],
                'indexes': [models.Index(fields=['-received_at', '-id'], name='delivery_newest'), models.Index(fields=['source', '-received_at', '-id'], name='delivery_by_source'), models.Index(fields=['outcome', '-received_at', '-id'], name='delivery_by_outcome'), models.Index(fields=['source', 'sha256', '-received_at'], name='delivery_by_hash'), models.Index(condition=models.Q(('delivery_id', ''), _negated=True), fields=['source', 'delivery_id', '-received_at'], name='delivery_by_sender'), models.Index(condition=models.Q(('incident_id__isnull', False)), fields=['incident_id', '-received_at'], name='delivery_of_incident')],
            },
        ),
        migrations.CreateModel(
            name='Incident',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('source', models.CharField(max_length=100)),
                ('group_key', models.CharField(max_length=500)),
                ('kind', models.CharField(choices=[('group', 'Group'), ('storm', 'Storm')], default='group', max_length=10)),
                ('title', models.CharField(blank=True, max_length=300)),
                ('severity', models.CharField(default='unknown', max_length=20)),
                ('state', models.CharField(choices=[('firing', 'Firing'), ('recovered', 'Recovered'), ('reopened', 'Reopened')], default='firing', max_length=20)),
                ('takes_members', models.BooleanField(default=True)),
                ('team', models.CharField(blank=True, max_length=100)),
                ('alert_type', models.CharField(blank=True, max_length=200)),
                ('rule', models.CharField(blank=True, help_text='The route that it took.', max_length=200)),
                ('member_count', models.PositiveIntegerField(default=0)),
                ('firing_count', models.PositiveIntegerField(default=0)),
                ('opened_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('last_joined_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('last_seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('recovered_at', models.DateTimeField(blank=True, null=True)),
                ('reopened_at', models.DateTimeField(blank=True, null=True)),
                ('absorbed_by', models.ForeignKey(blank=True, db_constraint=False, help_text='The storm that took its members.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='absorbed', to='investigations.incident')),
                ('previous', models.ForeignKey(blank=True, db_constraint=False, help_text='The incident of the same group before this one.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='later', to='investigations.incident')),
            ],
            options={
                'ordering': ['-opened_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='AlertEpisode',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('source', models.CharField(max_length=100)),
                ('key', models.CharField(max_length=500)),
                ('is_latest', models.BooleanField(default=True)),
                ('state', models.CharField(choices=[('firing', 'Firing'), ('resolved', 'Resolved')], default='firing', max_length=20)),
                ('title', models.CharField(blank=True, max_length=300)),
                ('severity', models.CharField(default='unknown', max_length=20)),
                ('labels', models.JSONField(blank=True, default=dict)),
                ('link', models.TextField(blank=True)),
                ('body', models.TextField(blank=True, help_text='As it was sent last: masked, and cut.')),
                ('starts_at', models.DateTimeField(blank=True, help_text='As the source tells it.', null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('first_seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('last_seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('count', models.PositiveIntegerField(default=1, help_text='Posts that told of it.')),
                ('incident', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='members', to='investigations.incident')),
            ],
            options={
                'ordering': ['first_seen_at', 'id'],
            },
        ),
        migrations.AddField(
            model_name='alertsession',
            name='incident',
            field=models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='sessions', to='investigations.incident'),
        ),
        migrations.AddIndex(
            model_name='maintenancewindow',
            index=models.Index(fields=['-ends_at', '-id'], name='window_by_end'),
        ),
        migrations.AddConstraint(
            model_name='maintenancewindow',
            constraint=models.CheckConstraint(condition=models.Q(('ends_at__gte', models.F('starts_at'))), name='window_has_length'),
        ),
        migrations.AddField(
            model_name='memberchange',
            name='episode',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='changes', to='investigations.alertepisode'),
        ),
        migrations.AddField(
            model_name='memberchange',
            name='incident',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='changes', to='investigations.incident'),
        ),
        migrations.AddIndex(
            model_name='incident',
            index=models.Index(fields=['-opened_at', '-id'], name='incident_newest'),
        ),
        migrations.AddIndex(
            model_name='incident',
            index=models.Index(fields=['source', '-opened_at', '-id'], name='incident_by_source'),
        ),
        migrations.AddIndex(
            model_name='incident',
            index=models.Index(fields=['state', '-opened_at', '-id'], name='incident_by_state'),
        ),
        migrations.AddIndex(
            model_name='incident',
            index=models.Index(fields=['severity', '-opened_at', '-id'], name='incident_by_severity'),
        ),
        migrations.AddIndex(
            model_name='incident',
            index=models.Index(condition=models.Q(('previous__isnull', False)), fields=['previous'], name='incident_previous'),
        ),
        migrations.AddIndex(
            model_name='incident',
            index=models.Index(condition=models.Q(('absorbed_by__isnull', False)), fields=['absorbed_by'], name='incident_absorbed'),
        ),
        migrations.AddConstraint(
            model_name='incident',
            constraint=models.UniqueConstraint(condition=models.Q(('takes_members', True)), fields=('source', 'group_key'), name='incident_of_group'),
        ),
        migrations.AddConstraint(
            model_name='incident',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['firing', 'recovered', 'reopened'])), name='incident_state_known'),
        ),
        migrations.AddConstraint(
            model_name='incident',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'recovered'), _negated=True), ('recovered_at__isnull', False), _connector='OR'), name='incident_recovered_has_moment'),
        ),
        migrations.AddIndex(
            model_name='alertepisode',
            index=models.Index(fields=['source', 'key', '-first_seen_at'], name='episode_of_key'),
        ),
        migrations.AddIndex(
            model_name='alertepisode',
            index=models.Index(fields=['incident', 'first_seen_at', 'id'], name='episode_of_incident'),
        ),
        migrations.AddIndex(
            model_name='alertepisode',
            index=models.Index(fields=['-last_seen_at', '-id'], name='episode_newest'),
        ),
        migrations.AddConstraint(
            model_name='alertepisode',
            constraint=models.UniqueConstraint(condition=models.Q(('is_latest', True)), fields=('source', 'key'), name='episode_latest'),
        ),
        migrations.AddConstraint(
            model_name='alertepisode',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['firing', 'resolved'])), name='episode_state_known'),
        ),
        migrations.AddIndex(
            model_name='memberchange',
            index=models.Index(fields=['incident', 'id'], name='change_of_incident'),
        ),
        migrations.AddIndex(
            model_name='memberchange',
            index=models.Index(fields=['episode', 'at'], name='change_of_episode'),
        ),
        _add_key("alertsession", "incident_id", "incident", "SET NULL"),
        _add_key("incident", "previous_id", "incident", "SET NULL"),
        _add_key("incident", "absorbed_by_id", "incident", "SET NULL"),
        _add_key("alertepisode", "incident_id", "incident", "CASCADE"),
        _add_key("memberchange", "incident_id", "incident", "CASCADE"),
        _add_key("memberchange", "episode_id", "alertepisode", "CASCADE"),
    ]
