"""All settings, from the environment. A mistake stops the start with one message for all."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import django_stubs_ext

from tarsy.env import Env
from tarsy.lease_times import read_lease_times
from tarsy.logs import LEVELS, STYLES, logging_config
from tarsy.setting_readers import (
    find_dashboard_url,
    read_database,
    read_host_and_origin,
    read_or_make_secret_key,
    read_proxies,
    refuse_overlap,
)

# `ModelAdmin[Session]` and the like need this at run time.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
env = Env(os.environ)

# ---- The process -------------------------------------------------------------------------------

VAR_DIR = Path(env.text("TARSY_VAR_DIR", str(BASE_DIR / "var")))
DEBUG = env.boolean("DEBUG", False)
IS_ASGI = env.text("TARSY_ROLE") == "asgi"
TIME_ZONE = "UTC"
USE_TZ = True
LANGUAGE_CODE = "en-us"
USE_I18N = False
FORMAT_MODULE_PATH = "tarsy.formats"
VERSION = "0.1.0"
DASHBOARD_URL = find_dashboard_url(env, VAR_DIR)
_DASHBOARD_HOST, DASHBOARD_ORIGIN = read_host_and_origin(env, DASHBOARD_URL)
SECRET_KEY = read_or_make_secret_key(env, VAR_DIR)

# ---- Who may reach us --------------------------------------------------------------------------

# BASE_URL alone is enough; these only add to it. The loopback names are there for this machine.
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
ALLOWED_HOSTS = [
    *env.items("ALLOWED_HOSTS", _LOOPBACK),
    _DASHBOARD_HOST,
]
CSRF_TRUSTED_ORIGINS = [*env.items("CSRF_TRUSTED_ORIGINS"), DASHBOARD_ORIGIN]
if not all("://" in origin for origin in CSRF_TRUSTED_ORIGINS):
    env.wrong("CSRF_TRUSTED_ORIGINS", "must be origins such as https://tools.example.com")
ALLOWED_WS_ORIGINS = list(env.items("ALLOWED_WS_ORIGINS"))
TARSY_AUTH = env.text("TARSY_AUTH", "login")
if TARSY_AUTH not in ("login", "none"):
    env.wrong("TARSY_AUTH", 'must be "login" or, on a closed network, "none"')
DEFAULT_ROLE = env.text("TARSY_DEFAULT_ROLE", "operator")
"""Of whoever is known but in no group that is a role."""
if DEFAULT_ROLE not in ("viewer", "operator"):
    env.wrong("TARSY_DEFAULT_ROLE", 'must be "operator" or "viewer"; more is given by groups')


TRUSTED_PROXIES = read_proxies("TARSY_TRUSTED_PROXIES", env)
FORWARDING_PROXIES = read_proxies("TARSY_FORWARDING_PROXIES", env)


refuse_overlap(env, TRUSTED_PROXIES, FORWARDING_PROXIES)
# Written by our own middleware, from what proxies say that may be believed.
SECURE_PROXY_SSL_HEADER = ("tarsy.scheme", "https")
IDENTITY_HEADERS = env.items("TARSY_IDENTITY_HEADERS")
"""Which headers of a trusted proxy name a person: the first that is there.

None by itself: a browser may send any that the proxy neither sets nor throws away.
"""
if TRUSTED_PROXIES and not IDENTITY_HEADERS:
    env.wrong(
        "TARSY_IDENTITY_HEADERS",
        "must name the header in which the proxy of TARSY_TRUSTED_PROXIES says who asks, and which "
        "it throws away when a browser sends it: X-Forwarded-User for oauth2-proxy",
    )

# ---- Applications ------------------------------------------------------------------------------

INSTALLED_APPS = [
    "daphne",
    "investigations.apps.PagesConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "investigations",
]

MIDDLEWARE = [
    "tarsy.response_headers.ResponseHeaders",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "tarsy.health.AnswerBeforeHosts",
    "tarsy.proxies.BelieveProxies",
    "tarsy.readable.RefuseUnreadable",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "investigations.access.proxy_login.LogInByProxy",
    "tarsy.page_messages.MessagesOfPages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "tarsy.urls"
ASGI_APPLICATION = "tarsy.asgi.application"
WSGI_APPLICATION = "tarsy.wsgi.application"
FORM_RENDERER = "django.forms.renderers.DjangoTemplates"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "investigations.views.context_processors.product",
            ],
        },
    }
]

# ---- PostgreSQL --------------------------------------------------------------------------------

DATABASES = {"default": read_database(env, is_asgi=IS_ASGI)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# ---- Redis and Celery --------------------------------------------------------------------------

REDIS_URL = env.secret("REDIS_URL", "redis://127.0.0.1:6379/0")
# Published messages reach every database of a server, so channels are named after ours.
REDIS_DATABASE = urlsplit(REDIS_URL).path.strip("/") or "0"
CELERY_BROKER_URL = env.secret("CELERY_BROKER_URL", REDIS_URL)
for _name, _url in (("REDIS_URL", REDIS_URL), ("CELERY_BROKER_URL", CELERY_BROKER_URL)):
    if urlsplit(_url).scheme not in ("redis", "rediss"):
        env.wrong(_name, "must begin with redis:// or rediss://")
CELERY_RESULT_BACKEND = f"tarsy.chord_counter.ChordCounter+{CELERY_BROKER_URL}"
# Whoever sends holds a request or a database thread meanwhile, and what is not sent is sent again
# by the sweeper: one more try, and no 20 seconds of them.
_SEND_RETRIES = {"max_retries": 1, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.2}
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # Above the longest session: late acknowledgement on Redis is no lease, the row's claim is.
    "visibility_timeout": 2 * 60 * 60,
    "unacked_restore_throttle": 1,
    "socket_timeout": 30.0,
    "socket_connect_timeout": 5.0,
    "health_check_interval": 25,
    **_SEND_RETRIES,
}
CELERY_TASK_PUBLISH_RETRY_POLICY = _SEND_RETRIES
CELERY_RESULT_BACKEND_TRANSPORT_OPTIONS = {"socket_timeout": 30.0, "retry_policy": _SEND_RETRIES}
CELERY_REDIS_SOCKET_TIMEOUT = 30.0
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_RESULT_EXPIRES = 24 * 60 * 60
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "apply-retention": {
        "task": "investigations.apply_retention",
        "schedule": 15 * 60,
        # One that nobody took before the next was sent is not needed any more.
        "options": {"expires": 15 * 60},
    },
}

# ---- Execution ---------------------------------------------------------------------------------

HEARTBEAT_SECONDS, LEASE_STALE_SECONDS, SWEEP_SECONDS = read_lease_times(env)
REDISPATCH_SECONDS = env.integer("TARSY_REDISPATCH_SECONDS", 10, minimum=1)
MCP_HEALTH_SECONDS = env.integer("TARSY_MCP_HEALTH_SECONDS", 15, minimum=1)
DATABASE_THREADS = 4
STREAM_SILENCE_SECONDS = env.integer("TARSY_STREAM_SILENCE_SECONDS", 60, minimum=1)
STREAM_MOST_SOCKETS = env.integer("TARSY_STREAM_MOST_SOCKETS", 250, minimum=1)

# ---- The world outside -------------------------------------------------------------------------

SLACK_API_URL = env.text("SLACK_API_URL", "https://slack.com/api/").rstrip("/") + "/"
if not SLACK_API_URL.startswith(("https://", "http://")):
    env.wrong("SLACK_API_URL", "must begin with https:// (or http:// for a test server)")

METRICS_TOKEN = env.secret("TARSY_METRICS_TOKEN")
if METRICS_TOKEN and len(METRICS_TOKEN) < 16:
    env.wrong("TARSY_METRICS_TOKEN", "must be a random text of at least 16 characters")

# ---- Requests ----------------------------------------------------------------------------------

DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
# A browser ignores it, and complains, where the connection cannot be trusted.
_is_trustworthy = DASHBOARD_ORIGIN.startswith("https://") or _DASHBOARD_HOST in _LOOPBACK
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin" if _is_trustworthy else None
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = DASHBOARD_ORIGIN.startswith("https://")
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["investigations.api.identity.IdentityAuthentication"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "investigations.api.negotiation.QuickNegotiation",
    "DEFAULT_PERMISSION_CLASSES": ["investigations.api.identity.MayUseApi"],
    "DEFAULT_THROTTLE_CLASSES": ["investigations.api.throttling.SourceThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "investigations.api.errors.answer_error",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "TARSy",
    "DESCRIPTION": "Alerts in, evidence-linked root-cause reports out.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "SessionStatusEnum": "investigations.models.AlertSession.Status",
        "RunStatusEnum": "investigations.models.Stage.Status",
        "TimelineEventStatusEnum": "investigations.models.TimelineEvent.Status",
        "ApprovalStatusEnum": "investigations.models.ApprovalRequest.Status",
        "LLMInteractionTypeEnum": "investigations.models.LLMInteraction.Type",
        "MCPInteractionTypeEnum": "investigations.models.MCPInteraction.Type",
        "IncidentStateEnum": "investigations.models.Incident.State",
        "IncidentKindEnum": "investigations.models.Incident.Kind",
        "MemberChangeKindEnum": "investigations.models.MemberChange.Kind",
        "DeliveryOutcomeEnum": "investigations.models.Delivery.Outcome",
    },
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# ---- Static files ------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = env.text("STATIC_ROOT", str(VAR_DIR / "static"))
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}

# ---- Logs --------------------------------------------------------------------------------------

LOG_LEVEL = env.text("LOG_LEVEL", "INFO").upper()
if LOG_LEVEL not in LEVELS:
    env.wrong("LOG_LEVEL", f"must be one of {', '.join(LEVELS)}")
LOG_FORMAT = env.text("LOG_FORMAT", "json")
if LOG_FORMAT not in STYLES:
    env.wrong("LOG_FORMAT", f"must be one of {', '.join(STYLES)}")
LOGGING_CONFIG = None
LOGGING = logging_config(level=LOG_LEVEL, style=LOG_FORMAT)

# Pages are told of files that only the workers have.
if env.boolean("TARSY_HOLDS_KEYS", True):
    env.refuse_missing_files()
env.refuse_placeholders()
env.raise_if_wrong()
