"""Is this process alive, is it ready, is the whole well?

LLM providers and MCP servers are left out on purpose: a restart of ours heals none of them.
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.utils.deprecation import MiddlewareMixin
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from investigations.selectors.sessions import count_active_and_queued
from investigations.selectors.system.parts import missing_migrations
from investigations.selectors.system.workers import client, live_workers

HEALTH_BUDGET_SECONDS = 5.0
READY_BUDGET_SECONDS = 2.0

Check = Callable[[], str]
"""Returns what is wrong, or nothing."""


@never_cache
@require_safe
def report_alive(request: HttpRequest) -> JsonResponse:
    """This process answers; nothing else is asked."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def report_ready(request: HttpRequest) -> JsonResponse:
    """May requests be sent here? 503 with the reason when not."""
    found = _run(
        {"database": _check_database, "redis": _check_redis, "migrations": _check_migrations},
        READY_BUDGET_SECONDS,
    )
    ready = not any(found.values())
    return JsonResponse(
        {"status": "ready" if ready else "not ready", "checks": _shown(found)},
        status=200 if ready else 503,
    )


@never_cache
@require_safe
def report_health(request: HttpRequest) -> JsonResponse:
    """The state of the product: `unhealthy` (503) without database, `degraded` without workers."""
    found = _run({"database": _check_database, "redis": _check_redis}, HEALTH_BUDGET_SECONDS)
    pool: dict[str, object] = {}
    if not found["database"]:
        pool = _describe_pool()
    if found["database"]:
        status = "unhealthy"
    elif found["redis"] or pool["status"] != "healthy":
        status = "degraded"
    else:
        status = "healthy"
    return JsonResponse(
        {
            "status": status,
            "version": settings.VERSION,
            "checks": {**_shown(found), "worker_pool": pool or {"status": "unknown"}},
        },
        status=503 if status == "unhealthy" else 200,
    )


class AnswerBeforeHosts(MiddlewareMixin):
    """Answers these before anything asks which host was meant.

    Whoever checks a container or a pod names it by an address, and no setting knows that.
    """

    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:
        view = _VIEWS.get(request.path_info)
        return view(request) if view else None


_VIEWS = {"/healthz": report_alive, "/readyz": report_ready, "/health": report_health}


def _describe_pool() -> dict[str, object]:
    workers = live_workers()
    active, queued = count_active_and_queued()
    return {
        "status": "healthy" if workers else "degraded",
        "total_workers": len(workers),
        "active_workers": sum(1 for worker in workers if worker.active),
        "active_executions": sum(worker.active for worker in workers),
        "active_sessions": active,
        "queue_depth": queued,
        **({} if workers else {"message": "no worker was heard of lately"}),
    }


def _check_database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def _check_redis() -> str:
    client().ping()
    return ""


def _check_migrations() -> str:
    missing = missing_migrations()
    return f"{missing} migrations are missing, run `manage.py migrate`" if missing else ""


def _run(checks: Mapping[str, Check], seconds: float) -> dict[str, str]:
    """Run each check in its own thread: one that hangs costs the budget and no more."""
    results = {name: _start(check) for name, check in checks.items()}
    wait(results.values(), timeout=seconds)
    return {
        name: result.result() if result.done() else f"no answer within {seconds:g} s"
        for name, result in results.items()
    }


def _start(check: Check) -> Future[str]:
    result: Future[str] = Future()

    def run() -> None:
        try:
            result.set_result(check())
        except (DatabaseError, redis.RedisError, OSError) as error:
            result.set_result(f"does not answer ({type(error).__name__})")
        except Exception as error:
            result.set_exception(error)
        finally:
            with suppress(DatabaseError):
                connection.close()

    threading.Thread(target=run, daemon=True).start()
    return result


def _shown(found: Mapping[str, str]) -> dict[str, object]:
    return {
        name: {"status": "unhealthy", "message": wrong} if wrong else {"status": "healthy"}
        for name, wrong in found.items()
    }
