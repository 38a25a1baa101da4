"""The Celery app: how tasks are sent and kept. What a worker starts stands in `tarsy.worker`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tarsy.settings")

app = Celery("tarsy")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
