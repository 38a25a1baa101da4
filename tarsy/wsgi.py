"""Entry point of gunicorn: HTTP alone; the stream needs `tarsy.asgi`."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from tarsy.logs import configure
from tarsy.startup import keep_what_is_loaded, read_config_or_exit, take_short_turns

read_config_or_exit()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tarsy.settings")

application = get_wsgi_application()
configure(settings.LOGGING)
keep_what_is_loaded()
take_short_turns()
