"""Entry point of Daphne: HTTP, and the stream at /api/v1/ws."""

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.urls import path, re_path

from tarsy.logs import configure
from tarsy.startup import keep_what_is_loaded, read_config_or_exit


def _build_application() -> ProtocolTypeRouter:
    http = get_asgi_application()
    # Daphne has set up logs of its own before it loaded this.
    configure(settings.LOGGING)
    # Needs the models, so it cannot be imported before Django is set up.
    from investigations.stream.consumer import RefuseSocket, StreamConsumer
    from tarsy.bounded_bodies import bound_bodies

    bound_bodies()
    routes = [path("api/v1/ws", StreamConsumer.as_asgi()), re_path("", RefuseSocket.as_asgi())]
    return ProtocolTypeRouter({"http": http, "websocket": URLRouter(routes)})


read_config_or_exit()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tarsy.settings")
os.environ.setdefault("TARSY_ROLE", "asgi")

application = _build_application()
keep_what_is_loaded()
