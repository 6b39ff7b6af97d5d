"""Whether the process lives, and whether it can serve."""

from django.core.cache import cache
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from fulfillment.api.errors import DATABASE_AWAY


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is asked."""
    return JsonResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """The database answers and has every migration; 503 with the reason otherwise."""
    failure = _failure()
    headers = {"Cache-Control": "no-store"}
    if failure:
        return JsonResponse(
            {"status": "unavailable", "reason": failure}, status=503, headers={**headers, "Retry-After": "5"}
        )
    return JsonResponse({"status": "ready"}, headers=headers)


def _failure() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        # Migrations once found complete stay so for the life of this process.
        if not cache.get("migrations_complete"):
            executor = MigrationExecutor(connection)
            if executor.migration_plan(executor.loader.graph.leaf_nodes()):
                return "migrations are missing"
            cache.set("migrations_complete", True, timeout=None)
    except DATABASE_AWAY:
        return "the database does not answer"
    return ""
